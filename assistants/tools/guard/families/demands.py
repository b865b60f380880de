"""Sentences that make an assistant give something away, break its limits, or act behind the person's back."""

from assistants.tools.guard.rules import Family, rule

from .words import GAP, UNLESS_NOT, either, some

INJECTION = Family.INJECTION

TELL = (
    "reveal¦show¦print¦repeat¦output¦display¦tell¦leak¦disclose¦expose¦give¦share¦recite¦dump¦summarize¦summarise¦what is"
    "¦what are¦what were"
)
TO_WHOM = "me us him them back out the+user verbatim"
SECRET = "system hidden secret initial original exact full entire complete internal developer confidential"
PROMPT = r"(?:system prompt|prompt|system message|developer message|instructions|system instructions)\b"
TELL_DE = "zeige¦zeig¦nenne¦nenn¦verrate¦verrat¦wiederhole¦gib¦drucke¦schreibe¦veröffentliche"
OUR = "the this all your our entire full whole complete of user users diese die den gesamten"
TALK = "conversation+history conversation chat+history chat system+prompt unterhaltung gesprächsverlauf chatverlauf"
PROMPT_DE = r"(?:system-?prompt|prompt|systemanweisungen|systemnachricht|anweisungen)\b"

RULES = (
    rule(
        "prompt leak",
        INJECTION,
        TELL,
        f"{GAP}{some(TO_WHOM, 3)}your{GAP}"
        f"(?:{either(SECRET)}{GAP}{some(SECRET + ' and', 3)}{PROMPT}|system prompt\\b|prompt\\b)",
        before=UNLESS_NOT,
    ),
    rule(
        "prompt leak (no owner)",
        INJECTION,
        TELL,
        f"{GAP}{some(TO_WHOM, 3)}the{GAP}{some('full entire complete exact whole', 2)}"
        f"{either('system hidden initial original secret developer')}{GAP}(?:prompt|instructions|message)\\b",
        before=UNLESS_NOT,
    ),
    rule(
        "prompt leak (German)",
        INJECTION,
        TELL_DE,
        f"{GAP}{some('mir uns ihm dem+nutzer wörtlich', 3)}(?:deinen|deine|den|die){GAP}"
        f"{some('gesamten ganzen vollständigen geheimen internen ursprünglichen eigenen', 3)}{PROMPT_DE}",
        before=UNLESS_NOT,
    ),
    rule(
        "everything above",
        INJECTION,
        "repeat¦print¦output¦show¦copy¦display¦translate¦write¦recite¦wiederhole¦gib",
        f"{GAP}{some('back out me us mir uns', 2)}"
        f"{either('everything all+the+text the+text all+text the+words all+words the+conversation alles')}{GAP}"
        f"{some('that is was you see are written stated was hier steht', 4)}(?:above|before this|preceding|oberhalb|darüber)\\b"
        r"(?![^\n]{0,3}\d)",
        before=UNLESS_NOT,
    ),
    rule(
        "security bypass",
        INJECTION,
        "bypass¦disable¦circumvent¦evade¦turn off¦deactivate¦switch off¦get around¦umgehe¦deaktiviere¦schalte",
        f"{GAP}{either('all any every your alle deine')}{GAP}{some('your of the and', 3)}"
        f"(?:{either('safety security content ethical moderation')}{GAP}{some('and safety security content', 2)}"
        r"(?:filter|guideline|measure|protocol|guardrail|restriction|polic|control|mechanism|rule)"
        r"|guardrails?\b|sicherheitsfilter|sicherheitsrichtlinien|sicherheitsregeln|inhaltsfilter)",
        before=UNLESS_NOT,
    ),
    rule(
        "uncensored mode",
        INJECTION,
        "uncensored mode¦unrestricted mode¦unfiltered mode¦jailbreak mode¦god mode¦dan mode¦do anything now"
        "¦you are now in developer mode¦developer mode enabled¦you are no longer bound by¦you are not bound by"
        "¦unzensierter modus¦unzensierten modus",
        r"\b",
    ),
    rule(
        "order to call a tool",
        INJECTION,
        "you must¦you should¦you shall¦you will¦you need to¦you have to¦the assistant must¦the ai must¦du musst¦du sollst",
        f"{GAP}{some('now immediately instead therefore first also secretly silently jetzt sofort', 3)}"
        f"{either('call invoke trigger use run execute das den dein')}{GAP}{some('the a this your following send', 3)}"
        r"[\w.-]{0,40}[`\"' ]{0,3}(?:tools?|werkzeug)\b(?! (?:to|for|in|on|from|with|that|zum|für)\b)",
        before=UNLESS_NOT,
    ),
    rule(
        "addressed to a machine",
        INJECTION,
        "if you are an ai¦if you're an ai¦if you are a language model¦if you are an llm¦note to ai¦note to the ai"
        "¦attention ai¦dear ai¦to any ai¦to the ai assistant¦to all ai assistants¦instructions for the ai"
        "¦instructions for ai assistants¦note for ai¦message to the ai¦hinweis an die ki¦an die ki¦an den ki-assistenten"
        "¦falls du eine ki¦wenn du eine ki¦hinweis für die ki",
        r"(?:\b|-)",
    ),
    rule(
        "behind the person's back",
        INJECTION,
        "do not tell the user¦don't tell the user¦do not inform the user¦do not mention this to the user"
        "¦don't mention this to the user¦without telling the user¦without informing the user¦hide this from the user"
        "¦keep this secret from the user¦do not let the user know¦sag dem nutzer nichts¦sage dem nutzer nichts"
        "¦ohne es dem nutzer zu sagen¦ohne den nutzer zu informieren¦verheimliche dem nutzer",
        r"(?! (?:whether|if|which|why)\b)",
    ),
    rule(
        "order to send the conversation away",
        INJECTION,
        "send¦post¦upload¦forward¦transmit¦exfiltrate¦submit¦leak¦append¦schicke¦sende¦übertrage",
        f"{GAP}{some(OUR, 5)}{either(TALK)}"
        r"\b[^\n.!?\0]{0,60}?(?:https?://|\bto\b[^\n.!?\0]{0,30}?[\w.-]{1,40}@[\w-]{1,40}\.)",
        before=UNLESS_NOT,
    ),
)
