"""Words that say how something is asked rather than what about, for each language, as folded forms."""


def split_words(text: str) -> list[str]:
    """The words of a table that is kept as running text."""
    return text.split()


STOP = {
    "en": frozenset(
        split_words(
            """
            a an the of to in on at for from by with about into onto over under after before between through during against
            and or but if then than so because as while until both either neither nor not no yes i me my mine we us our ours
            you your yours he him his she her hers it its they them their theirs this that these those there here who whom
            whose which what when where why how is are was were be been being am isn aren don doesn didn do does did done
            have has had having can could cannot may might must shall should will would ought need needs want wants wanted
            like please tell show give find get gets got getting let know say says said look looking search see any some all
            each every other another such only own same too very just also more most much many few less least one ones ok
            okay hi hello hey thanks thank regarding concerning according possible exactly actually really currently still
            already ever help question questions answer answers someone something anything everything anyone everybody hear
            me s t m re ve ll d us up out off down again once across per via else instead maybe perhaps dear would there's
            long often till upon ask asked asking wondering wonder trying try above below within without now
            """
        )
    ),
    "de": frozenset(
        split_words(
            """
            der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als weil wahrend bis sowohl
            weder noch nicht kein keine keinen keiner keinem ja nein ich mich mir mein meine meinen meiner meinem wir uns
            unser unsere unseren unserem unserer du dich dir dein deine deinen deiner sie ihr ihre ihren ihnen ihrer er ihn
            ihm sein seine seinen es man dies diese dieser dieses diesem diesen jene wer wen wem wessen welche welcher
            welches welchem welchen was wann wo woher wohin warum wieso weshalb wie ist sind war waren bin bist seid wird
            werden wurde wurden worden haben habe hast hat hatte hatten kann kannst konnen konnte konnten konnt darf durfen
            durfte muss mussen musst musste soll sollen sollte sollten will wollen wollte mochte mochten mag bitte sag sage
            zeig zeige gib finde finden such suche suchen brauche brauchen braucht gibt geht gehen mach mache machen macht
            wissen weiss kennen kennst in im an am auf aus bei beim mit nach seit von vom zu zum zur fur uber unter vor
            hinter zwischen durch gegen ohne um bezuglich laut gemass ab da dort hier hin her auch nur schon sehr so mehr
            viel viele wenig alle alles allem allen aller etwas nichts jemand irgend einfach mal denn doch eben halt wohl ob
            dass damit dafur davon dazu daruber darin dabei daran hallo danke hilfe hilf helfen frage fragen antwort genau
            eigentlich gerade aktuell derzeit bereits sonst bekommen bekomme bekommt kriege kriegen ins ans wieviel wieviele
            lange oft gern gerne worum woran worauf wofur womit wobei wodurch woruber wovon sich nun jetzt
            euer eure euren eurem eurer tun tue tut
            """
        )
    ),
}
"""Never searched for."""

WEAK = {
    "en": frozenset(
        split_words(
            """
            document documents doc docs file files folder page section information info details detail thing things way
            list explain describe explanation summary summarise summarize summaries overview passage chapter work works use
            used using happen happens happened mean means make makes made take takes taking exist exists called write draft
            translate compare difference different read open quote  about come comes go goes going put set main
            fast quickly soon important general new current good best better right correct following related high big old far
            large numbers figures
            """
        )
    ),
    "de": frozenset(
        split_words(
            """
            dauert dauern dauer dokument dokumente
            dokumenten datei dateien ordner  seite abschnitt information informationen info
            infos angabe angaben detail details ding dinge liste erklar erklare erklaren beschreibe beschreiben
            zusammenfassung uberblick ubersicht stelle stellen kapitel steht stehen bedeutet heisst passiert gelten gilt
            schreib schreibe ubersetze ubersetzen vergleiche vergleichen unterschied lies lesen offne offnen zitiere
            lauft liegt liegen lautet kommt schnell bald wichtig wichtigsten allgemein folgende fasse zusammen neu neue neuen
            neuer neues gut beste besten lang langer hoch gross weit alt zahlen
            """
        )
    ),
}
"""Searched for only beside better words, and worth less."""

GENERAL = frozenset(
    split_words(
        """
        policy policies rule rules guideline guidelines procedure procedures regulation regulations process regel regeln
        regelung regelungen richtlinie richtlinien vorschrift vorschriften vorgaben verfahren thema topic
        """
    )
)
"""Searched for beside better words or alone, but a passage may answer without them."""

MARKS = {
    "en": STOP["en"] - STOP["de"] - {"also", "her", "ab", "so", "will", "war", "man", "mag", "t", "s", "d"},
    "de": STOP["de"] - STOP["en"] - {"die", "was", "will", "war", "man", "mag", "hat", "so", "her", "hin", "bin"},
}
"""Words by which a language is known."""
