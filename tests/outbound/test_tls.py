"""A pinned address still has to prove the name it was asked for."""

import datetime
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assistants.errors import CodedError
from assistants.outbound import Limits, fetch
from tests.outbound.small_site import SmallSite, page


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """A certificate for `localhost` that this process trusts, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "site.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return path


@pytest.fixture
def secure_site(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    made = SmallSite(wrap=lambda connection: context.wrap_socket(connection, server_side=True))
    made.answers["/"] = page(b"secret garden")
    yield made
    made.stop()


def get(site, host):
    return fetch(site.url(scheme="https", host=host), limits=Limits(ports={site.port}, total=5), trusted={host})


def test_a_site_that_proves_its_name_is_read(secure_site):
    assert get(secure_site, "localhost").body == b"secret garden"


def test_a_site_that_proves_another_name_is_not(secure_site):
    with pytest.raises(CodedError, match="can't be fetched"):
        get(secure_site, "127.0.0.1")

    assert secure_site.requests == []


def test_a_site_that_nobody_vouches_for_is_not_read(secure_site, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")

    with pytest.raises(CodedError, match="can't be fetched"):
        get(secure_site, "localhost")

    assert secure_site.requests == []
