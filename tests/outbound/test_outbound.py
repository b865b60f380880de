"""Nothing inside is ever reached, whatever is written, resolved or redirected (S35)."""

import gzip
import socket
import time

import pytest

from assistants import outbound
from assistants.errors import CodedError
from assistants.outbound import Limits, fetch, is_public
from tests.outbound.addresses import INSIDE_V4, INSIDE_V6, PUBLIC, forms
from tests.outbound.small_site import SmallSite, page, redirect


def limits(*sites: SmallSite, **changes) -> Limits:
    return Limits(ports={80, 443, *(site.port for site in sites)}, **{"connect": 2, "total": 5, **changes})


def get(site: SmallSite, path="/", *, host="127.0.0.1", **changes):
    """Fetches from the site as if an administrator had named its host."""
    headers = changes.pop("headers", None)
    return fetch(site.url(path, host=host), headers=headers, limits=limits(site, **changes), trusted={host})


def refusal(url, **kwargs):
    with pytest.raises(CodedError) as refused:
        fetch(url, **kwargs)
    return refused.value


@pytest.fixture
def lookups(monkeypatch):
    """What names resolve to in this test, and who was asked for. Numbers resolve as they always do."""
    real, known, asked = socket.getaddrinfo, {}, []

    def look_up(host, port, *args, **kwargs):
        asked.append(host)
        if host not in known:
            return real(host, port, *args, **kwargs)
        answers = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [entry for address in answers for entry in real(address, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known, asked


@pytest.mark.parametrize("address", [*INSIDE_V4, *INSIDE_V6, "fe80::1%eth0", "x", ""])
def test_s35_addresses_inside_are_not_public(address):
    assert not is_public(address)
    assert not is_public(f"::ffff:{address}")


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


def test_s35_no_form_of_an_address_reaches_the_inside(catcher, monkeypatch):
    """300 and more forms, with the catcher's port allowed: it must see no one, and every refusal reads the same."""
    urls = list(dict.fromkeys(forms(catcher.port)))
    tried, connect = [], socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda address, *rest, **more: tried.append(address) or connect(address, *rest, **more)
    )

    told = {(refusal(url, limits=limits(catcher)).message) for url in urls}

    assert len(urls) > 600
    assert tried == []
    assert catcher.connections == 0
    assert told == {"This address can't be fetched."}


def test_the_catcher_of_the_test_above_would_have_noticed(catcher):
    catcher.answers["/"] = page(b"caught")

    assert get(catcher).body == b"caught"
    assert get(catcher, host="localhost").body == b"caught"
    assert catcher.connections == 2


def test_only_the_usual_ports_are_open(catcher):
    refusal(catcher.url(), trusted={"127.0.0.1"})

    assert catcher.connections == 0


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::1"], ["10.0.0.1", "8.8.8.8"], ["::ffff:127.0.0.1"]]
)
def test_s35_one_bad_address_spoils_the_whole_lookup(lookups, monkeypatch, answers, catcher):
    known, _ = lookups
    known["bad.example"] = [answers]
    tried = []
    monkeypatch.setattr(socket, "create_connection", lambda address, *rest, **more: tried.append(address))

    refusal(catcher.url(host="bad.example"), limits=limits(catcher))

    assert tried == [] and catcher.connections == 0


def test_s35_a_name_is_resolved_once_and_the_checked_address_is_the_one_that_is_used(lookups, monkeypatch, catcher):
    known, asked = lookups
    known["rebind.example"] = [["93.184.216.34"], ["127.0.0.1"]]
    tried = []

    def connect(address, *rest, **more):
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)

    refusal(catcher.url(host="rebind.example"), limits=limits(catcher))

    assert asked == ["rebind.example"]
    assert tried == [("93.184.216.34", catcher.port)]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize(
    "target",
    ["http://localhost:{port}/secret", "http://[::1]:{port}/secret", "//2130706433:{port}/secret", "http://x\\@127.0.0.1:{port}/",
     "http://0x7f.1:{port}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/", "https://localhost:{port}/"],
)  # fmt: skip
def test_s35_a_redirect_is_checked_like_the_first_address(site, catcher, status, target):
    site.answers["/"] = redirect(target.format(port=catcher.port), status)

    refused = refusal(site.url(), limits=limits(site, catcher), trusted={"127.0.0.1"})

    assert refused.message == "This address can't be fetched."
    assert (len(site.requests), catcher.connections) == (1, 0)


def test_redirects_are_followed_and_headers_stay_with_the_first_hop(site):
    site.answers |= {"/": redirect("/two?x=1"), "/two?x=1": redirect("three"), "/three": page(b"there")}

    answer = get(site, headers={"Authorization": "Bearer CANARY", "X-Key": "CANARY"})

    assert (answer.body, answer.url, answer.status) == (b"there", site.url("/three"), 200)
    assert [request.count("CANARY") for request in site.requests] == [2, 0, 0]


def test_more_than_five_redirects_are_refused(site):
    site.answers["/"] = redirect("/")

    refusal(site.url(), limits=limits(site), trusted={"127.0.0.1"})

    assert len(site.requests) == 6


def test_no_cookie_or_credential_is_kept_between_hops(site):
    site.answers |= {"/": page(b"", status="302 Found", Location="/two", Set_Cookie="a=CANARY"), "/two": page(b"there")}

    get(site)

    assert "cookie" not in site.requests[1].lower()


def test_proxies_of_the_environment_are_not_used(site, catcher, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{catcher.port}")
    site.answers["/"] = page(b"direct")

    assert get(site).body == b"direct"
    assert catcher.connections == 0


def test_a_long_body_is_cut_at_the_limit(site):
    site.answers["/"] = page(b"x" * 5000)

    answer = get(site, max_bytes=1000)

    assert (len(answer.body), answer.cut) == (1000, True)


def test_s38_a_packed_bomb_is_unpacked_no_further_than_the_limit(site):
    site.answers["/"] = page(gzip.compress(b"\0" * 200_000_000), Content_Encoding="gzip")
    site.answers["/small"] = page(gzip.compress(b"hello"), Content_Encoding="gzip")
    site.answers["/odd"] = page(b"hello", Content_Encoding="br")

    answer = get(site, max_bytes=10_000)

    assert (len(answer.body), answer.cut) == (10_000, True)
    assert get(site, "/small").body == b"hello"
    refusal(site.url("/odd"), limits=limits(site), trusted={"127.0.0.1"})


def dribble(head: bytes, piece: bytes):
    def send(stream):
        stream.sendall(head)
        for _ in range(200):
            time.sleep(0.05)
            stream.sendall(piece)

    return send


@pytest.mark.parametrize(
    "answer",
    [
        dribble(b"", b"H"),
        dribble(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        dribble(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        lambda stream: time.sleep(5),
    ],
    ids=["status line", "headers", "body", "silence"],
)
def test_a_slow_answer_ends_with_the_time_for_it(site, answer):
    site.answers["/"] = answer
    started = time.monotonic()

    refusal(site.url(), limits=limits(site, total=0.6), trusted={"127.0.0.1"})

    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000,
        page(b"not packed", Content_Encoding="gzip"),
        page(b"", status="302 Found").replace(b"Content-Type", b"Location: http://\xff/\r\nContent-Type"),
    ],
    ids=["nothing", "garbage", "cut off", "endless headers", "wrongly packed", "odd redirect"],
)
def test_a_broken_answer_is_refused_with_the_same_words(site, answer):
    site.answers["/"] = answer

    assert refusal(site.url(), limits=limits(site), trusted={"127.0.0.1"}).code == "FETCH_FAILED"


def test_s35_what_is_closed_and_what_is_forbidden_read_the_same(site, catcher):
    """No one learns by the words or the code whether something listens there."""
    catcher.stop()
    errors = [
        refusal(catcher.url(), limits=limits(catcher), trusted={"127.0.0.1"}),
        refusal(site.url(), limits=limits(site)),
        refusal("http://no-such-host.invalid/"),
        refusal("http://10.0.0.1/"),
        refusal("http://example.org:22/"),
        refusal("nonsense"),
    ]

    assert len({(error.code, error.message, error.fix, error.field) for error in errors}) == 1


def test_an_error_page_is_an_answer(site):
    answer = get(site, "/missing")

    assert (answer.status, answer.body) == (404, b"not here")


def test_the_tests_site_can_be_named_by_ipv6(site):
    if not socket.has_ipv6 or len(site._listeners) < 2:
        pytest.skip("no IPv6 loopback here")
    site.answers["/"] = page(b"six")

    answer = fetch(site.url(host="[::1]"), limits=limits(site), trusted={"::1"})

    assert answer.body == b"six"
    assert f"Host: [::1]:{site.port}" in site.requests[0]


def test_the_deadline_is_kept_before_a_connection_is_opened(site, monkeypatch):
    monkeypatch.setattr(outbound.clock, "monotonic", iter([0.0, *[100.0] * 50]).__next__)

    refusal(site.url(), limits=limits(site), trusted={"127.0.0.1"})

    assert site.connections == 0
