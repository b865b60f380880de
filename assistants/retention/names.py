"""Takes a person's names out of what stays when they are gone: the logs of the administration, and copies of conversations."""

import json
import re
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from assistants.models import AuditEntry, ToolCall, Turn, User

SOMEBODY = "somebody"
MIN_CHARS = 2


def forget_names(user: User) -> None:
    """Puts `somebody` where the person's sign-in name, full name or address stands in logs, and in what they decided.

    A name that somebody else bears as well stays where it could mean them: in calls and notes of conversations.
    """
    _forget_in_logs(user, _names(user))
    if not _is_shared(user):
        _forget_in_calls(user.display_name)


def _names(user: User) -> list[str]:
    given = {user.username, user.email, user.get_full_name(), user.display_name}
    # The longest first: an address may hold the name.
    return sorted((name for name in given if len(name) >= MIN_CHARS), key=len, reverse=True)


def _forget_in_logs(user: User, names: list[str]) -> None:
    about = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    about.update(object_repr=SOMEBODY, change_message="")
    named = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))
    _rewrite(LogEntry.objects.all(), named, names, "object_repr", "change_message")
    _rewrite(AuditEntry.objects.all(), named, names, "target", "detail")


def _rewrite(rows: QuerySet[Any], named: re.Pattern[str], names: list[str], *fields: str) -> None:
    texts = {f"{field}_text": Cast(field, TextField()) for field in fields}
    # JSON may have written other signs than letters as escapes.
    wanted = {*names, *(json.dumps(name)[1:-1] for name in names)}
    mentions = Q()
    for text in texts:
        for name in wanted:
            mentions |= Q(**{f"{text}__contains": name})
    for row in rows.annotate(**texts).filter(mentions).iterator():
        for field in fields:
            setattr(row, field, _without(getattr(row, field), named))
        row.save(update_fields=list(fields))


def _without(value: Any, named: re.Pattern[str]) -> Any:
    """The value, to any depth, with `somebody` in the place of the names; keys are the product's own."""
    if isinstance(value, str):
        return named.sub(SOMEBODY, value)
    if isinstance(value, dict):
        return {key: _without(each, named) for key, each in value.items()}
    return [_without(each, named) for each in value] if isinstance(value, list) else value


def _is_shared(user: User) -> bool:
    others = User.objects.exclude(pk=user.pk)
    alike = others.filter(first_name=user.first_name, last_name=user.last_name) if user.get_full_name() else others.none()
    return alike.exists() or others.filter(username=user.display_name).exists()


def _forget_in_calls(name: str) -> None:
    """What they settled, answered and allowed in conversations that are not theirs, such as copies that others made."""
    ToolCall.objects.filter(settled_by=name).update(settled_by=SOMEBODY)
    Turn.objects.filter(note=f"Stopped by {name}.").update(note=f"Stopped by {SOMEBODY}.")
    for field in ("answer", "approval"):
        for call in ToolCall.objects.filter(**{f"{field}__by": name}).iterator():
            setattr(call, field, {**getattr(call, field), "by": SOMEBODY})
            call.save(update_fields=[field])
