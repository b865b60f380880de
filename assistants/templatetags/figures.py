"""Numbers of tokens, times and sums of money, short and as the reader's language writes them."""

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from assistants.models import Tenant

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}


def short(number: int) -> str:
    """A number of tokens in at most four characters or so: 950, 4.1k, 2M."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if number and number >= size:
            tenths = round(number / size, 1)
            return number_format(tenths, 0 if tenths.is_integer() else 1) + unit
    return str(number or 0)


def span(seconds: float) -> str:
    """A time span as a clock shows it: 0:41, 12:05, 1:00:00."""
    minutes, rest = divmod(int(seconds or 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def took(seconds: float) -> str:
    """How long something took that has ended, as a clock shows it; of less than a second, that it was less."""
    return span(seconds) if seconds >= 1 else _("under 1 s")


def money(amount: float | Decimal, tenant: Tenant) -> str:
    """A sum in the tenant's currency: € 0.06; € 0,06 where the language writes it so."""
    return f"{SYMBOLS.get(tenant.currency, tenant.currency)} {number_format(amount, 2)}"
