"""Pieces of a command line that start another command."""

from assistants.tools.guard.rules import Family, rule

COMMAND = Family.COMMAND
PROGRAM = (
    r"(?:rm|cat|ls|id|whoami|curl|wget|nc|ncat|netcat|bash|sh|zsh|python3?|perl|ruby|php|node|powershell|pwsh|cmd|chmod|chown"
    r"|sudo|kill|dd|mkfs|env|printenv|uname|ping|nslookup|tftp|ssh|scp|eval|exec|sleep|touch|mv|cp|echo)\b"
)

RULES = (
    rule("second command", COMMAND, ";¦&&¦||¦|¦\n¦`", rf"[&|]?[ \t]{{0,8}}+{PROGRAM}"),
    rule("command in place of a value", COMMAND, "$(", r"[^)\n$\0]{1,200}\)"),
    rule("command between backticks", COMMAND, "`", r"[^`\n\0]{1,200}`"),
    rule("variable of the shell", COMMAND, "${", r"[^}\n$\0]{1,100}\}"),
    rule("shell on a network", COMMAND, "/dev/tcp/¦/dev/udp/¦nc -e¦bash -i¦sh -i¦mkfifo"),
    rule("output into a system folder", COMMAND, ">", r">?[ \t]{0,4}/(?:etc|dev|root|bin|usr|var|tmp)/"),
    rule(
        "hidden PowerShell",
        COMMAND,
        "powershell¦pwsh",
        r"(?:\.exe)?\s{1,8}+-(?:e|enc|encodedcommand|nop|w|windowstyle|c|command)\b",
    ),
)
