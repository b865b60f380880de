"""A mail goes to members of the team and to allowed domains, as it was approved, and as plain text."""

import pytest
from django.core import mail
from django.test import override_settings

from assistants.errors import CodedError
from assistants.models import Membership, ToolCall, User
from assistants.toolbox.send_email import allowed_addresses
from assistants.tools.registry import find_tool
from tests.kit.sealed import allow, asked, call, give
from tests.kit.turns import replies, run_all

MAIL = {"to": ["bob@apes.example"], "subject": "Jackets", "body": "Twelve jackets.\n.\nBye"}


@pytest.fixture
def post(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "MAIL_DOMAINS": ["partner.example"]}
    for person in (ground.alice, ground.bob):
        User.objects.filter(pk=person.pk).update(email=f"{person.username}@apes.example")
    User.objects.filter(pk=ground.charlie.pk).update(email="charlie@bears.example")
    give(ground.lead, "send_email")


def ask(ground, **changes):
    ground.script([{"calls": [call("send_email", **{**MAIL, **changes})]}, "Done."])
    thread = ground.open("Write to Bob")
    run_all()
    return thread


@pytest.mark.django_db(transaction=True)
def test_a_mail_is_sent_once_a_person_has_read_it(ground, post):
    thread = ask(ground)
    assert mail.outbox == []

    allow(asked(thread), ground.alice, subject="Twelve jackets")
    run_all()

    (sent,) = mail.outbox
    assert (sent.to, sent.subject, sent.body) == (["bob@apes.example"], "Twelve jackets", MAIL["body"])
    assert (sent.reply_to, sent.content_subtype, sent.attachments) == (["alice@apes.example"], "plain", [])
    assert replies(thread)[-1] == "Done." and '"sent": true' in ToolCall.objects.get().result


def test_without_a_mail_server_it_is_written_into_the_outbox_folder_and_says_so(ground, post, tmp_path):
    backend = "django.core.mail.backends.filebased.EmailBackend"
    thread = ground.open()
    context = type("Context", (), {"thread": thread})()

    with override_settings(EMAIL_BACKEND=backend, EMAIL_FILE_PATH=str(tmp_path / "outbox")):
        told = find_tool("send_email").function(context, **MAIL)

    (file,) = (tmp_path / "outbox").iterdir()
    assert "Twelve jackets." in file.read_text() and told["sent"] is False and "outbox folder" in told["note"]


def test_a_mail_to_a_stranger_is_refused_by_the_tool_whoever_approved_it(ground, post):
    for address in ("eve@evil.example", "charlie@bears.example", "bob@apes.example.evil.example", "x@sub.partner.example"):
        with pytest.raises(CodedError) as refusal:
            allowed_addresses([address], ground.apes)
        assert refusal.value.code == "RECIPIENT_NOT_ALLOWED"

    assert allowed_addresses(["Bob@Apes.example", "anna@PARTNER.example"], ground.apes)


def test_whoever_left_the_team_gets_no_mail_any_more(ground, post):
    Membership.objects.filter(user=ground.bob).delete()

    with pytest.raises(CodedError):
        allowed_addresses(["bob@apes.example"], ground.apes)


@pytest.mark.parametrize(
    "address",
    ["Bob <bob@apes.example>", "bob@apes.example, eve@evil.example", "bob@apes.example;eve@evil.example", "bob",
     '"eve@evil.example,"@partner.example', "eve@evil.example%@partner.example ", "böb@apes.example", "a@partner.example>"],
)  # fmt: skip
def test_only_one_plain_address_counts_as_one(ground, post, address):
    with pytest.raises(CodedError) as refusal:
        allowed_addresses([address], ground.apes)

    assert refusal.value.code in ("NOT_AN_ADDRESS", "RECIPIENT_NOT_ALLOWED")


@pytest.mark.parametrize("field", ["subject", "to"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\x85", "\u2028", "\x0b"])
def test_no_header_is_smuggled_in(ground, post, field, ending):
    smuggled = f"bob@apes.example{ending}Bcc: eve@evil.example"

    ask(ground, **{field: [smuggled] if field == "to" else smuggled})

    assert ToolCall.objects.get().outcome == "refused" and mail.outbox == []


def test_a_person_can_not_smuggle_one_in_either(ground, post):
    thread = ask(ground)

    with pytest.raises(CodedError) as refusal:
        allow(asked(thread), ground.alice, subject="Hello\nBcc: eve@evil.example")

    assert refusal.value.code == "BAD_ARGUMENTS" and asked(thread).arguments == MAIL
