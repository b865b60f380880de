"""Sentences that tell an assistant to drop its instructions, in English, German and the neighbours' languages."""

from assistants.tools.guard.rules import Family, rule

from .words import GAP, UNLESS_NOT, either, some

INJECTION = Family.INJECTION

DROP = (
    "ignore¦ignoring¦disregard¦disregarding¦forget¦override¦overrule¦neglect¦discard¦bypass¦pay no attention to"
    "¦do not follow¦don't follow¦don’t follow¦do not obey¦don't obey¦don’t obey¦stop following¦stop obeying"
)
LOOSE = "all any every each the these those this that of other such and"
OWN = "previous prior preceding above earlier foregoing former initial original your system developer hidden"
THEM = r"(?:instruction|directive|direction|prompt|guideline|rule|constraint|programming|restriction)s?\b"

DROP_DE = "ignoriere¦ignoriert¦ignorieren¦vergiss¦vergesst¦vergessen¦missachte¦missachten¦verwirf¦verwerfen¦übergehe¦umgehe"
LOOSE_DE = "alle alles aller die der das den dir mir sie ihr ihre bitte sämtliche jegliche zuvor und einfach"
OWN_DE = (
    "vorherigen vorherige vorheriger bisherigen bisherige bisheriger vorigen vorige obigen obige früheren frühere"
    " vorangegangenen vorangegangene vorstehenden vorausgehenden ursprünglichen ursprüngliche deine deiner deinen"
)
THEM_DE = r"(?:anweisung|instruktion|befehl|system-?anweisung|system-?prompt|prompt|richtlinie)(?:en|e|n|s)?\b"

SAID = "that which you i we have has been was were are is had told written said stated before this"
SAID_DE = "was dir du man ich bisher zuvor vorher"

RULES = (
    rule(
        "instruction override",
        INJECTION,
        DROP,
        f"{GAP}{some(LOOSE, 4)}{either(OWN)}{GAP}{some(f'{LOOSE} {OWN}', 4)}{THEM}",
        before=UNLESS_NOT,
    ),
    rule(
        "override of all instructions",
        INJECTION,
        DROP,
        f"{GAP}{either('all any every')}{GAP}{some('of the these those other', 3)}(?:instruction|directive|prompt)s?\\b",
        before=UNLESS_NOT,
    ),
    rule(
        "what came before is void",
        INJECTION,
        "ignore¦disregard¦forget",
        f"{GAP}{either('everything anything what all+the+text all+text all+of+the+text')}{GAP}{some(SAID, 6)}"
        r"(?:above|previously|until now|so far|earlier|learned|learnt|taught|instructed)\b",
        before=UNLESS_NOT,
    ),
    rule(
        "told before is void",
        INJECTION,
        "ignore¦disregard¦forget",
        f"{GAP}{either('everything anything what all')}{GAP}{some('that', 1)}"
        f"you{GAP}{some('have had were been was', 2)}told\\b",
        before=UNLESS_NOT,
    ),
    rule(
        "the above is void",
        INJECTION,
        "ignore the above¦disregard the above¦forget the above",
        f"{GAP}{some('directions text', 1)}and{GAP}"
        r"(?:instead|say|print|tell|output|write|do|respond|reply|answer|follow|translate)\b",
        before=UNLESS_NOT,
    ),
    rule(
        "new instructions",
        INJECTION,
        "new instructions¦new instruction¦updated instructions¦revised instructions¦new system prompt¦real instructions"
        "¦actual instructions¦neue anweisungen¦neue anweisung¦neue systemanweisung¦neue systemanweisungen",
        f"(?: for {either('you the+assistant the+ai the+model')})?[*_ ]{{0,4}}:",
        # Where a sentence starts: a text may well count "two new instructions:".
        before=r"(?:(?<=[\n>#*_\"'(\[])|(?<=[.!?:;,>#*_-] )|(?<=your )|(?<=these )|(?<=the )|(?<=are )|(?<=my ))",
    ),
    rule(
        "new task",
        INJECTION,
        "your new task¦your real task¦your new role¦your new instructions¦your real instructions¦your actual instructions"
        "¦deine neue aufgabe¦deine neuen anweisungen¦deine wahren anweisungen",
        r"[*_ ]{0,4}(?::| is\b| are\b| ist\b| lautet\b| lauten\b)",
    ),
    rule(
        "from now on",
        INJECTION,
        "from now on¦from this point on¦from this moment on",
        f"{GAP}you{GAP}{some('will must should shall can are to only always', 3)}"
        f"(?:obey|pretend|ignore|(?:act|behave|respond|reply|speak|answer){GAP}{either('as only like in with without')})\\b",
    ),
    rule(
        "from now on (German)",
        INJECTION,
        "ab jetzt¦ab sofort¦von nun an",
        f"{GAP}{some('sollst musst wirst darfst gehorchst antwortest handelst verhältst ignorierst bist', 1)}du{GAP}"
        r"(?:nur|als|wie|dich|alle|ein|eine|keine|mir|gehorchen|ignorieren|antworten|handeln)\b",
    ),
    rule(
        "instruction override (German)",
        INJECTION,
        DROP_DE,
        f"{GAP}{some(LOOSE_DE, 5)}{either(OWN_DE)}{GAP}{some(f'{LOOSE_DE} {OWN_DE}', 4)}{THEM_DE}",
        before=UNLESS_NOT,
    ),
    rule(
        "what came before is void (German)",
        INJECTION,
        DROP_DE,
        f"{GAP}{some('bitte einfach sie', 2)}alles{GAP}{some(SAID_DE, 4)}"
        r"(?:gesagt|gelernt|oben|davor|mitgeteilt|geschrieben)\b",
        before=UNLESS_NOT,
    ),
    rule(
        "instruction override (French, Spanish, Italian)",
        INJECTION,
        "ignorez¦ignore¦oubliez¦oublie¦ignora¦ignorad¦olvida¦dimentica",
        f"{GAP}{some('toutes les tes vos todas las tus sus tutte le tue', 3)}"
        f"{either('instructions consignes instrucciones istruzioni')}{GAP}"
        r"(?:précédentes|antérieures|ci-dessus|initiales|anteriores|previas|precedenti|iniziali)\b",
        before=UNLESS_NOT,
    ),
)
