"""Addresses on the inside of a network, which a tool must not be sent to (SSRF)."""

from assistants.tools.guard.rules import Family, rule

ADDRESS = Family.ADDRESS
# `http://good.example@127.0.0.1` and `http://good\@127.0.0.1` go to the part behind the last sign.
USER = r"(?:[^\s/@\0]{0,100}@)?"
PRIVATE = (
    r"(?:localhost|127\.|0\.0\.0\.0|10\.\d|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\."
    r"|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)"
)

RULES = (
    rule(
        "address of this machine or network",
        ADDRESS,
        "http://¦https://¦ws://¦wss://¦ftp://",
        rf"{USER}(?:{PRIVATE}|\[(?:::|f[cde]))",
    ),
    rule(
        "number for an address",
        ADDRESS,
        "http://¦https://",
        rf"{USER}(?:\d{{7,10}}|0x[\da-f]{{2,8}}|0\d{{2,11}})(?:[:/.]|$|\s)",
    ),
    rule("this machine by name", ADDRESS, "localhost¦127.0.0.1¦0.0.0.0¦[::1]", r"(?![\w.-])", before=r"(?<![\w.-])"),
    rule("metadata of a cloud", ADDRESS, "169.254.169.254¦metadata.google.internal¦100.100.100.200¦fd00:ec2::254"),
    rule(
        "name on the inside",
        ADDRESS,
        "http://¦https://",
        rf"{USER}[\w.-]{{1,120}}?\.(?:internal|local|localdomain|intranet|corp|lan)(?![\w.-])",
    ),
    rule("other kind of address", ADDRESS, "file://¦gopher://¦dict://¦ldap://¦tftp://¦jar:http¦php://¦expect://"),
)
