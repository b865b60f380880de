"""A conversation. A sub-chat is one like any other, with a parent."""

import secrets

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .row import Row


def new_chat_id() -> str:
    return "chat" + secrets.token_hex(8)


def new_child_id(parent: "Thread") -> str:
    """`sub_<parent's id>_<8 hex>`: sorts beside its siblings and names all above it (T-08)."""
    return f"sub_{parent.chat_id}_{secrets.token_hex(4)}"


class ThreadQuerySet(models.QuerySet["Thread"]):
    def roots(self) -> "ThreadQuerySet":
        return self.filter(parent=None)

    def listed(self) -> "ThreadQuerySet":
        return self.filter(archived=False)


class Thread(Row):
    """One conversation with one assistant, or with an ad-hoc agent (`agent` holds its definition then).

    `last_event` is the number of the newest event; it only grows, under the row's lock (D2). `last_news` is the number of
    the newest one that a person may want to read, `seen_event` of the last one that the owner's page has shown.
    `leaf` is the newest message of the branch that is shown.
    """

    tenant = models.ForeignKey("assistants.Tenant", on_delete=models.CASCADE, related_name="threads", verbose_name=_("tenant"))
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="threads", verbose_name=_("owner")
    )
    visitor_key = models.CharField(_("visitor key"), max_length=64, blank=True, db_index=True)
    assistant = models.ForeignKey(
        "assistants.Assistant", null=True, on_delete=models.SET_NULL, related_name="threads", verbose_name=_("assistant")
    )
    agent = models.JSONField(_("agent"), default=dict, blank=True)
    chat_id = models.CharField(_("chat id"), max_length=160, unique=True, default=new_chat_id)
    root = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="tree", verbose_name=_("root"))
    parent = models.ForeignKey(
        "self",
        to_field="chat_id",
        db_column="parent_chat_id",
        null=True,
        on_delete=models.CASCADE,
        related_name="children",
        verbose_name=_("parent"),
    )
    parent_message = models.ForeignKey(
        "assistants.Message",
        db_column="parent_message_id",
        null=True,
        on_delete=models.SET_NULL,
        related_name="opened_threads",
        verbose_name=_("parent message"),
    )
    tainted_by = models.CharField(
        _("tainted by"),
        max_length=80,
        blank=True,
        help_text=_("The first call whose result brought text from outside into this conversation (D8)."),
    )
    read_private = models.BooleanField(
        _("read private"), default=False, help_text=_("A result brought the team's private data in (D8).")
    )
    client_key = models.CharField(_("client key"), max_length=64, blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    title_by = models.CharField(_("title by"), max_length=8, blank=True, help_text=_("person, model or text"))
    title_asked = models.BooleanField(
        _("title asked"), default=False, help_text=_("A model was asked for a title, whatever came of it.")
    )
    leaf = models.ForeignKey(
        "assistants.Message", null=True, on_delete=models.SET_NULL, related_name="+", verbose_name=_("leaf")
    )
    last_event = models.PositiveIntegerField(_("last event"), default=0)
    last_news = models.PositiveIntegerField(_("last news"), default=0)
    last_message = models.PositiveIntegerField(_("last message"), default=0)
    pinned = models.BooleanField(_("pinned"), default=False)
    archived = models.BooleanField(_("archived"), default=False)
    seen_event = models.PositiveIntegerField(_("seen event"), default=0)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    updated = models.DateTimeField(_("updated"), auto_now=True, db_index=True)

    objects = ThreadQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("thread"), _("threads")
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "client_key"],
                condition=~models.Q(client_key="") & models.Q(parent=None),
                name="one_thread_per_client_key",
            ),
            models.UniqueConstraint(
                fields=["visitor_key", "client_key"],
                condition=~models.Q(client_key="") & models.Q(parent=None, owner=None),
                name="one_thread_per_visitors_client_key",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-updated"], name="thread_sidebar"),
            models.Index(
                fields=["owner", "archived", "-pinned", "-updated"], name="thread_foremost", condition=models.Q(parent=None)
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.chat_id

    @property
    def root_id_or_own(self) -> int:
        return self.root_id or self.pk


class ThreadShare(models.Model):
    """Lets one more member of the tenant read a conversation and everything under it."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="shares")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shared_threads")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("thread share"), _("thread shares")
        constraints = [models.UniqueConstraint(fields=["thread", "user"], name="one_share_per_person")]

    def __str__(self) -> str:
        return f"{self.thread} for {self.user}"
