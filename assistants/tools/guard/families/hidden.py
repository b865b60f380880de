"""Text that a person does not see but a model reads, and addresses that carry something away."""

from assistants.tools.guard.rules import Family, Risk, rule

from .words import either

INJECTION = Family.INJECTION
ORDER = (
    r"ignore (?:all|any|the|your|previous)|instructions?\s{0,2}:|system\s{0,2}:|assistant\s{0,2}[:,]|you must\b"
    r"|do not (?:tell|mention|reveal|inform)|prompt\s{0,2}:|(?:hidden|secret|new) instructions?|ai (?:assistant|model|agent)"
    r"|language model|ignoriere (?:alle|die|deine)|anweisung(?:en)?\s{0,2}:"
)
LOOT = "chat conversation chat_?history conversation_?history history secrets? api_?keys? passwords? system_?prompt user_?data"
ADDRESS = r"[^\s?#\"'<>)\]\0]{1,200}+\?[^\s\"'<>)\0]{0,120}?"

RULES = (
    # The body ends at the next angle bracket, so that no two of them overlap.
    rule("orders in an HTML comment", INJECTION, "<!--", rf"[^<>\0]{{0,400}}?\b(?:{ORDER})"),
    rule(
        "invisible characters",
        INJECTION,
        "\u200b¦\u200c¦\u200d¦\u2060¦\ufeff¦\u180e",
        "[\u200b\u200c\u200d\u2060\ufeff\u180e]{2}",
        literal=True,
    ),
    rule("reversed reading direction", INJECTION, "\u202d¦\u202e", literal=True),
    # A flag is made of six of them behind a black flag.
    rule("invisible sentence", INJECTION, "", "[\U000e0020-\U000e007f]{7}", literal=True),
    rule(
        "address that carries the conversation",
        INJECTION,
        "http://¦https://",
        rf"{ADDRESS}=\+?{either(LOOT)}(?![\w-])",
    ),
    rule("link with a gap to fill in", INJECTION, "](http://¦](https://", rf"{ADDRESS}=(?:[{{\[<$]|%7b|%5b)"),
    rule(
        "hidden image",
        INJECTION,
        "![](http://¦![](https://¦![ ](http://¦![ ](https://",
        r"[^)\s!\0]{1,300}?\?",
        risk=Risk.MEDIUM,
    ),
    rule("hidden link", INJECTION, "[](http://¦[](https://¦[ ](http://¦[ ](https://", before=r"(?<!!)", risk=Risk.MEDIUM),
)
