"""A folder of documents that a tenant's assistants may search."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class DocumentRoot(models.Model):
    """A folder on the server. Only an admin names it; nothing is ever written into it."""

    tenant = models.ForeignKey(
        "assistants.Tenant", on_delete=models.CASCADE, related_name="document_roots", verbose_name=_("tenant")
    )
    name = models.CharField(_("name"), max_length=80, help_text=_("What people and assistants call it."))
    path = models.CharField(_("path"), max_length=500, help_text=_("The folder's absolute path on this server."))
    public = models.BooleanField(
        _("public"), default=False, help_text=_("Visitors of public assistants may search and read it too, without signing in.")
    )
    groups = models.ManyToManyField(
        "auth.Group",
        blank=True,
        related_name="+",
        help_text=_("Only members in one of these may read it. Empty: every member."),
        verbose_name=_("groups"),
    )
    pinned = models.JSONField(
        _("pinned"), default=dict, editable=False, help_text=_("The path as it was entered, and the real one that it had then.")
    )
    indexed = models.DateTimeField(_("indexed"), null=True, editable=False)
    report = models.JSONField(_("report"), default=dict, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("document root"), _("document roots")
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="root_name_per_tenant")]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """One file of a root as it was when it was indexed."""

    root = models.ForeignKey(DocumentRoot, on_delete=models.CASCADE, related_name="documents")
    path = models.CharField(max_length=500, help_text="Relative to the root, with forward slashes.")
    title = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    text = models.TextField()
    modified = models.DateTimeField(null=True)
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes of the file.")

    class Meta:
        verbose_name, verbose_name_plural = _("document"), _("documents")
        constraints = [models.UniqueConstraint(fields=["root", "path"], name="document_path_per_root")]

    def __str__(self) -> str:
        return self.path


class Passage(models.Model):
    """A stretch of a document's lines, the unit that is searched and quoted. Its text is also in the search index."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="passages")
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    heading = models.CharField(max_length=200, blank=True)
    anchor = models.CharField(max_length=100, blank=True, help_text="The page, sheet or slide that it stands on.")
    text = models.TextField()

    class Meta:
        verbose_name, verbose_name_plural = _("passage"), _("passages")

    def __str__(self) -> str:
        return f"{self.document} lines {self.first_line}-{self.last_line}"
