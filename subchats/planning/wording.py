"""Tells a check by which one sees something from one that only says that the work is done (J-05)."""

import re

# Words that say that work has ended, and nothing of what came out of it.
ENDED = frozenset(
    "done complete completed completes completion finish finished finishes ended over ready ok okay fine good perfect works"
    " worked working successful successfully success correct correctly properly fully entirely completely accomplished achieved"
    " executed performed carried out resolved handled closed delivered received arrived reported returned answered responded"
    " came back true yes x check checked"
    " fertig erledigt abgeschlossen beendet gemacht getan ausgeführt durchgeführt vollständig komplett erfolgreich erfolgt gut"
    " passt stimmt richtig bereit geschafft gelöst geliefert eingegangen gemeldet beantwortet zurück ja"
    " fait faite terminé terminée fini hecho hecha listo lista terminado completado fatto finito klaar gedaan".split()
)
# What the work is called when nothing is said about it, and the words that hold a sentence together.
EMPTY = frozenset(
    "a an the this that it its is are was were be been being has have had will should must can when once if as and or of for to"
    " s ve d in by with all everything every each now then there we i you they he she"
    " step steps task tasks subtask work job part item thing point action assignment specialist assistant agent delegate"
    " report reports answer answers result results response reply output"
    " der die das den dem ein eine einen es er sie ist sind war wurde wurden wird werden worden hat haben hatte alles"
    " alle jeder jede wenn sobald dann und oder von für zu im in mit nun jetzt wir ich du"
    " schritt schritte aufgabe aufgaben arbeit teil punkt auftrag fachmann assistent agent bericht berichte antwort antworten"
    " ergebnis ergebnisse"
    " le la les est c el es está il è la tarea tarefa tâche étape".split()
)
WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Numbers that say how far the work is, or which part of it is meant; any other number is something one can see.
PROGRESS = re.compile(
    r"\b(?:step|task|part|point|schritt|aufgabe|teil|punkt)\s*(?:no\.?|nr\.?|#)?\s*\d+|\b100\s*(?:%|percent|prozent)"
)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without signs."""
    return WORD.findall(text.casefold())


def says_nothing(text: str, *, description: str = "") -> bool:
    """Whether a check, or a piece of evidence, names no observable result: it is blank, it only says that something is
    done, or it repeats what was to be done.

    One word or number that is neither such a statement nor filler is enough: what is really observable, code can't judge.
    """
    words = words_of(PROGRESS.sub(" ", text.casefold()))
    if all(word in ENDED or word in EMPTY for word in words):
        return True
    return bool(description) and [word for word in words if word not in ENDED] == words_of(description)
