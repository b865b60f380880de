"""A workflow that is asked about by that word: its steps, how far it has come, or its next step, which is then done (J-33)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .phrases import phrase
from .refusals import one_line, reason_of
from .reports import Report, read_report, render_failure, render_report
from .steps import Answer, Call, Errand, Miss, Need, Step
from .talk import Result, Talk

TOOLS = frozenset({"find_graph_workflow", "get_graph_workflow", "get_workflow_progress"})
OPERATOR = "operator"
DONE = ("recorded_done", "inferred_done")
_NAMED = re.compile(r"\b(work-?flows?|arbeitsabl(?:auf|äufe)\w*)\b", re.IGNORECASE)
# Documents have steps as well, and a term has an “Ablauf”: then a workflow has to share more than one word with the wish.
_STEPS = re.compile(
    r"\b(?:(?:which|what(?: are)?(?: the)?|welche) (?:steps|schritte)|(?:der|den|dem|einen?) ablauf)\b", re.IGNORECASE
)
ENOUGH_WORDS = 2
_START = re.compile(
    r"\b(start\w*|begin\w*|follow|run|carry on|carry out|go on|continue|next|folge\w*|befolg\w*|weiter|nächste\w*)\b",
    re.IGNORECASE,
)
_FAR = re.compile(r"\b(how far|progress|status|wie weit|fortschritt|stand)\b", re.IGNORECASE)


def asks_for_workflow(text: str, talk: Talk) -> bool:
    """Whether a workflow is meant, and can be looked up here."""
    return set(talk.offers.tools) >= TOOLS and bool(_NAMED.search(text) or _STEPS.search(text))


@dataclass(frozen=True)
class Following:
    """One wish about a workflow. Without one that shares words with it, `otherwise` is done if the word did not fall."""

    text: str
    otherwise: Errand

    def advance(self, talk: Talk) -> Step:
        named = bool(_NAMED.search(self.text))
        found = self._find(talk)
        if isinstance(found, Need):
            return found
        if not found:
            return Miss(phrase(talk.language, "no_workflow"), established="") if named else self.otherwise.advance(talk)
        whole = _result(talk, "get_graph_workflow", workflowId=found)
        if not isinstance(whole, Result):
            return whole
        starts = bool(_START.search(self.text))
        if not starts and not _FAR.search(self.text):
            return Answer(_listed(whole.data, {}, talk.language))
        progress = _result(talk, "get_workflow_progress", workflowId=found)
        if not isinstance(progress, Result):
            return progress
        return _go_on(whole.data, progress.data, self.text, talk) if starts else _told(whole.data, _states(progress), talk)

    def _find(self, talk: Talk) -> str | Need:
        """The id of the workflow that is meant: by its words, else the one that was read last in this conversation."""
        found = _result(talk, "find_graph_workflow", task=_NAMED.sub(" ", self.text).strip() or self.text)
        if isinstance(found, Need):
            return found
        matches = found.data.get("workflows") if isinstance(found, Result) else None
        best = next(iter(_rows(matches)), None)
        if best and (_NAMED.search(self.text) or len(best.get("sharedWords") or ()) >= ENOUGH_WORDS):
            return str(best.get("workflowId", ""))
        read = [each for exchange in talk.earlier for each in exchange.results if each.tool == "get_graph_workflow"]
        return str(read[-1].arguments.get("workflowId", "")) if read and _NAMED.search(self.text) else ""


def _result(talk: Talk, tool: str, **wanted: Any) -> Result | Need | Miss:
    """What a call gave back; the need for it, or a miss where it was refused or can't be made."""
    arguments = talk.offers.fit(tool, **wanted)
    if arguments is None:
        return Miss(phrase(talk.language, "no_workflow"), established="")
    result = talk.result_of(tool, arguments)
    if result is None:
        return Need((Call(tool, arguments),))
    if result.refusal:
        return Miss(phrase(talk.language, "refused", reason=reason_of(result, talk.language)), established="")
    return result


def _go_on(workflow: Mapping[str, Any], progress: Mapping[str, Any], asked: str, talk: Talk) -> Step:
    """Hands the next step to its owner, if that is another assistant, and records it once the report is there."""
    states = _states(progress)
    ahead = progress.get("next")
    owners = {each.slug: each for each in talk.offers.delegates}
    if not isinstance(ahead, Mapping) or ahead.get("owner") not in owners:
        return _told(workflow, states, talk)
    owner = owners[ahead["owner"]]
    task = one_line(f"{ahead.get('title', '')}: {ahead.get('produces', '')}", 1000)
    result = _result(talk, "invoke_assistant", assistant=owner.slug, task=task, context=one_line(asked, 1000))
    if not isinstance(result, Result):
        return result
    report = read_report(result, owner.name, talk.language)
    if not report.answers or not report.complete:
        failure = render_failure(report, talk.language, asked=task, briefly=False)
        return Answer(f"{failure}\n\n{report.reply}\n\n{_listed(workflow, states, talk.language)}")
    return _record(workflow, states, ahead, report, talk)


def _record(workflow: Mapping[str, Any], states: dict[str, str], node: Mapping[str, Any], report: Report, talk: Talk) -> Step:
    note = one_line(next((line for line in report.reply.splitlines() if line.strip()), ""), 400)
    wanted = {"workflowId": workflow.get("workflowId"), "nodeId": node.get("nodeId"), "completed": True, "note": note}
    recorded = _result(talk, "record_workflow_step", **wanted)
    if isinstance(recorded, Need):
        return recorded
    if isinstance(recorded, Result):
        states[str(node.get("nodeId"))] = DONE[0]
    label, text = render_report(report, talk.language)
    return Answer(f"{text}\n\n{_told(workflow, states, talk).text}", label)


def _told(workflow: Mapping[str, Any], states: Mapping[str, str], talk: Talk) -> Answer:
    return Answer(_listed(workflow, states, talk.language) + _ahead(workflow, states, talk.language))


def _states(progress: Result | Mapping[str, Any]) -> dict[str, str]:
    data = progress.data if isinstance(progress, Result) else progress
    return {str(each.get("nodeId")): str(each.get("state")) for each in _rows(data.get("steps"))}


def _listed(workflow: Mapping[str, Any], states: Mapping[str, str], language: str) -> str:
    """The steps as a numbered list, with who does each and what speaks against doing it early."""
    lines = [phrase(language, "workflow", title=one_line(str(workflow.get("title", "")), 200)), ""]
    for order, node in enumerate(_rows(workflow.get("nodes")), 1):
        owner = _owner(node, language)
        done = f" ✓ {phrase(language, 'step_done')}" if states.get(str(node.get("nodeId"))) in DONE else ""
        lines.append(f"{order}. **{one_line(str(node.get('title', '')), 200)}** ({owner}): {_words(node, 'produces')}{done}")
    return "\n".join(lines)


def _ahead(workflow: Mapping[str, Any], states: Mapping[str, str], language: str) -> str:
    open_steps = [node for node in _rows(workflow.get("nodes")) if states.get(str(node.get("nodeId"))) not in DONE]
    if not open_steps:
        return "\n\n" + phrase(language, "workflow_over")
    node = open_steps[0]
    told = phrase(language, "step_ahead", title=one_line(str(node.get("title", "")), 200), owner=_owner(node, language))
    return "\n\n" + " ".join(filter(None, [told, _words(node, "note"), _words(node, "hazard")]))


def _owner(node: Mapping[str, Any], language: str) -> str:
    owner = str(node.get("owner", ""))
    return phrase(language, "a_person") if owner == OPERATOR else one_line(owner, 80)


def _words(node: Mapping[str, Any], name: str) -> str:
    return one_line(str(node.get(name) or ""), 400)


def _rows(value: object) -> Sequence[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
