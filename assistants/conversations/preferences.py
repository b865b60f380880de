"""How the pages look to one person, wherever they sign in."""

from assistants.models import User


def save_preferences(user: User, *, theme: str = "", language: str = "") -> None:
    """Keeps the theme and the language; an empty one stays as it is."""
    wanted = {"theme": theme, "language": language}
    changes = {field: value for field, value in wanted.items() if value and value != getattr(user, field)}
    if changes:
        User.objects.filter(pk=user.pk).update(**changes)
