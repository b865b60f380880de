"""Tells the present date and time."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from pydantic import Field

from assistants import clock
from assistants.errors import CodedError
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool


@tool()
def current_time(
    context: ToolContext,
    zone: Annotated[str, Field(max_length=60, description="An IANA zone such as Europe/Berlin; empty: the site's.")] = "",
) -> Any:
    """Tell the present date and time, with the day of the week."""
    try:
        now = clock.now().astimezone(ZoneInfo(zone or settings.TIME_ZONE))
    except (ZoneInfoNotFoundError, ValueError):
        raise CodedError(
            code="BAD_ARGUMENTS",
            field="zone",
            message=f"There is no time zone “{zone}”.",
            fix="Use an IANA name such as Europe/Berlin, or leave it out.",
        ) from None
    return {"time": now.isoformat(timespec="seconds"), "weekday": now.strftime("%A"), "zone": zone or settings.TIME_ZONE}
