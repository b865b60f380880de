"""Sends a plain mail to members of the team or to domains that the site allows, once a person has read it."""

from typing import Annotated, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from pydantic import Field

from assistants.errors import CodedError
from assistants.models import Tenant, User
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool

LINE = r"^[^\x00-\x1f\x7f\u0085\u2028\u2029]+$"


@tool(effect="once", sends_out=True, approval=True, seconds=40, free_text=("subject", "body"))
def send_email(
    context: ToolContext,
    to: Annotated[
        list[Annotated[str, Field(max_length=254, pattern=LINE)]],
        Field(min_length=1, max_length=10, description="Addresses of members of the team, or in a domain that is allowed."),
    ],
    subject: Annotated[str, Field(min_length=1, max_length=200, pattern=LINE, description="One line.")],
    body: Annotated[str, Field(min_length=1, max_length=20_000, description="Plain text, as the reader will see it.")],
) -> Any:
    """Send an e-mail in the name of the person of this chat.

    They read it first, and it is sent only once they allow it; they may change it or refuse. Write it so that it can go
    out as it is.
    """
    addresses = allowed_addresses(to, context.thread.tenant)
    EmailMessage(subject=subject, body=body, to=addresses, reply_to=_reply_to(context)).send()
    if settings.EMAIL_BACKEND.endswith(".filebased.EmailBackend"):
        return {"sent": False, "to": addresses, "note": "Written to the outbox folder: no mail server is set up on this site."}
    return {"sent": True, "to": addresses}


def allowed_addresses(wanted: list[str], tenant: Tenant) -> list[str]:
    """The addresses, each once. Raises `NOT_AN_ADDRESS`, and `RECIPIENT_NOT_ALLOWED` for strangers (S30)."""
    members = User.objects.filter(memberships__tenant=tenant, is_active=True).exclude(email="")
    known = {each.lower() for each in members.values_list("email", flat=True)}
    for address in wanted:
        _check_address(address)
        domain = address.rpartition("@")[2].lower()
        if address.lower() not in known and domain not in settings.TASKMONKEY["MAIL_DOMAINS"]:
            raise CodedError(
                code="RECIPIENT_NOT_ALLOWED",
                field="to",
                message=f"{address[:80]} is no member of this team, and mail to {domain[:80]} is not allowed here.",
                fix="Write to a member of the team, or tell the person that an administrator can allow the domain.",
                correctable=False,
            )
    return list(dict.fromkeys(wanted))


def _check_address(address: str) -> None:
    try:
        validate_email(address)
        # Quoted names are allowed in addresses, and are where one address passes for another.
        if not address.isascii() or '"' in address:
            raise ValidationError("quoted")
    except ValidationError:
        raise CodedError(
            code="NOT_AN_ADDRESS",
            field="to",
            message=f"“{address[:80]}” is not one plain address.",
            fix="Write addresses only, such as anna@example.org, without names.",
        ) from None


def _reply_to(context: ToolContext) -> list[str]:
    owner = context.thread.owner
    return [owner.email] if owner and owner.email else []
