"""Starts the app: the toolbox of every installed app is loaded, so a lower app offers the tools of an upper one."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class AssistantsConfig(AppConfig):
    name = "assistants"
    verbose_name = "Assistants"

    def ready(self) -> None:
        autodiscover_modules("toolbox")
        from assistants import checks  # noqa: F401
