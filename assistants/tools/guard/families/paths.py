"""File names that lead out of the folder they belong to."""

from assistants.tools.guard.rules import Family, rule

PATH = Family.PATH

RULES = (
    rule("two folders up", PATH, "../¦..\\", r"[^\s\0]{0,60}?\.\.[/\\]"),
    rule("encoded way up", PATH, "%2e%2e¦..%2f¦..%5c¦.%2e¦%2e.¦%252e¦%c0%ae¦..%c0%af¦..;/"),
    rule(
        "system file",
        PATH,
        "/etc/passwd¦/etc/shadow¦/etc/sudoers¦/etc/ssh/¦/proc/self/¦/proc/1/¦/root/.¦/var/run/secrets¦/.ssh/¦/.aws/"
        "¦/.env¦/.git/config¦/boot.ini¦\\windows\\system32¦/windows/system32¦/dev/mem¦/sys/firmware",
    ),
    rule("end of a name", PATH, "%00¦\\x00¦\\0", r"(?!\d)"),
)
