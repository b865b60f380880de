"""Pressure and pretence, looked for only in what comes from the riskiest tools."""

from assistants.tools.guard.rules import Family, Risk, rule

from .words import GAP, some

INJECTION, HIGH = Family.INJECTION, Risk.HIGH

RULES = (
    rule(
        "encoded orders",
        INJECTION,
        "decode this¦decode the following¦decode and¦base64 decode¦base64-decode¦dekodiere",
        r"[^\n.!?\0]{0,60}?(?:follow|execute|obey|run|carry out|befolge|ausführ)",
        risk=HIGH,
    ),
    rule(
        "order to act at once",
        INJECTION,
        "immediately send¦immediately transfer¦immediately delete¦immediately forward¦immediately call¦act immediately"
        "¦without asking for confirmation¦without confirmation¦ohne rückfrage",
        r"\b",
        risk=HIGH,
    ),
    rule(
        "false authority",
        INJECTION,
        "as your administrator¦as the system administrator¦as your developer¦this is your administrator¦by order of the ceo"
        "¦authorized by the admin¦i am your developer¦als dein administrator",
        r"\b",
        risk=HIGH,
    ),
    rule(
        "false end of the result",
        INJECTION,
        "end of tool output¦end of tool result¦end of search results¦end of document¦end of context¦end of the email"
        "¦begin system prompt¦ende des dokuments",
        r"\b",
        risk=HIGH,
    ),
    rule(
        "other person to play",
        INJECTION,
        "you are now¦pretend to be¦pretend that you are¦pretend you are¦act as¦roleplay as¦du bist jetzt¦du bist nun",
        f"{GAP}{some('a an the my ein eine mein', 1)}"
        f"{some('evil unrestricted unfiltered uncensored malicious different new', 2)}"
        r"(?:ai|assistant|dan|hacker|administrator|admin|root|superuser|model|chatbot|bot|ki)\b",
        risk=HIGH,
    ),
)
