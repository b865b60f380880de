"""The language of scripts: steps in order, or rules that are tried in order, as plain JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from assistants.llm.conversation import Conversation
from assistants.llm.reply import ModelError


@dataclass(frozen=True)
class ScriptedCall:
    """A tool call; `arguments` is an object, or text that goes out as it stands. `{{user}}` and `{{result}}` are filled in."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Step:
    """One reply: text in deltas of `delta_chars` with `delay_ms` after each, after a first wait of `first_ms`.

    `break` cuts the stream behind what was written, `never` says nothing for ever, `error` is a ModelError code,
    `echo_orders` obeys every order found in the last tool result (or, before there is one, in the user's text):
    `CALL tool {json}`. `usage` is (input, output) tokens; without it they are estimated.
    """

    text: str = ""
    repeat: int = 1
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    delta_chars: int = 12
    delay_ms: float = 0
    first_ms: float = 0
    finish: str = ""
    cut: bool = False
    error: str = ""
    retry_after: float | None = None
    never: bool = False
    echo_orders: bool = False
    usage: tuple[int, int] | None = None


@dataclass(frozen=True)
class Rule:
    """Holds when all its conditions do; then its steps answer, one per reply since the last user text, the last for ever.

    `user`, `system` and `result` (the last tool result) must contain the given text in any case; `results` is the
    number of tool results since the last user text, `nth` the number of replies before this one in the whole
    conversation, `tool` the name of a tool that must be on offer.
    """

    steps: tuple[Step, ...]
    user: str | None = None
    system: str | None = None
    result: str | None = None
    results: int | None = None
    nth: int | None = None
    tool: str | None = None

    def holds(self, now: Conversation) -> bool:
        """Says whether this rule speaks for the conversation as it stands."""
        texts = ((self.user, now.user), (self.system, now.system), (self.result, now.result))
        counts = ((self.results, now.results), (self.nth, now.replies))
        return (
            all(wanted is None or wanted.casefold() in found.casefold() for wanted, found in texts)
            and all(wanted is None or wanted == found for wanted, found in counts)
            and (self.tool is None or self.tool in now.tools)
        )


@dataclass(frozen=True)
class Script:
    """Either `steps`, the nth for a conversation's nth reply, or `rules`, of which the first that holds answers."""

    steps: tuple[Step, ...] = ()
    rules: tuple[Rule, ...] = ()
    forever: bool = False

    def step_for(self, now: Conversation) -> Step:
        """Picks the reply. The place in the script comes from the messages alone, so a restart does not lose it.

        Raises ModelError MODEL_SCRIPT when no step is left or no rule holds.
        """
        for rule in self.rules:
            if rule.holds(now):
                return rule.steps[min(now.replies_since_user, len(rule.steps) - 1)]
        if now.replies < len(self.steps):
            return self.steps[now.replies]
        if self.forever and self.steps:
            return self.steps[-1]
        raise script_error(f"The scripted model has no reply left for {now.user[:60]!r} (reply {now.replies + 1}).")


def parse_script(source: str | Mapping[str, Any] | Sequence[Any]) -> Script:
    """Reads a script: JSON text, a list of steps, or {"steps": [...], "forever": bool} or {"rules": [...]}.

    A rule is {"when": {conditions}, "reply": step} or {"when": {...}, "steps": [step, ...]}. A step may be a plain
    text. Raises ModelError MODEL_SCRIPT for anything else, naming what is wrong.
    """
    try:
        data = json.loads(source) if isinstance(source, str) else source
        if not isinstance(data, Mapping):
            return Script(steps=_steps(data))
        _check_keys(data, {"steps", "rules", "forever", "title"})
        return Script(_steps(data.get("steps", ())), _rules(data.get("rules", ())), bool(data.get("forever")))
    except (TypeError, ValueError, KeyError) as error:
        raise script_error(f"The script is not valid: {error}") from error


def script_error(message: str) -> ModelError:
    """The error of a scripted model that does not know what to say."""
    return ModelError(code="MODEL_SCRIPT", message=message, fix="Add a step or a rule to the script.", correctable=False)


def fill(value: Any, now: Conversation) -> Any:
    """Puts the user's text and the last tool result where a script says {{user}} or {{result}}, in any depth."""
    if isinstance(value, str):
        return value.replace("{{user}}", now.user).replace("{{result}}", now.result)
    if isinstance(value, Mapping):
        return {key: fill(item, now) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, now) for item in value]
    return value


def orders_in(text: str) -> tuple[ScriptedCall, ...]:
    """Finds every order `CALL tool {json}` in a text: what a gullible model would do at once."""
    orders = []
    for match in re.finditer(r"\bCALL\s+([\w.-]+)\s*(?=\{)", text):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(text, match.end())
        except ValueError:
            continue
        orders.append(ScriptedCall(match.group(1), arguments))
    return tuple(orders)


def _rules(items: Sequence[Any]) -> tuple[Rule, ...]:
    return tuple(_rule(item) for item in items)


def _rule(item: Mapping[str, Any]) -> Rule:
    _check_keys(item, {"when", "reply", "steps"})
    when = item.get("when", {})
    _check_keys(when, {known.name for known in fields(Rule)} - {"steps"})
    steps = _steps(item["steps"] if "steps" in item else [item["reply"]])
    if not steps:
        raise ValueError("a rule needs a reply")
    return Rule(steps=steps, **when)


def _steps(items: Sequence[Any]) -> tuple[Step, ...]:
    return tuple(_step(item) for item in items)


def _step(item: Step | str | Mapping[str, Any]) -> Step:
    if isinstance(item, Step):
        return item
    if isinstance(item, str):
        return Step(text=item)
    values = {("cut" if key == "break" else key): value for key, value in item.items()}
    _check_keys(values, {known.name for known in fields(Step)})
    values["calls"] = tuple(_call(call) for call in values.get("calls", ()))
    if "usage" in values:
        values["usage"] = tuple(values["usage"])
    return Step(**values)


def _call(item: ScriptedCall | Mapping[str, Any]) -> ScriptedCall:
    return item if isinstance(item, ScriptedCall) else ScriptedCall(**item)


def _check_keys(data: Mapping[str, Any], known: set[str]) -> None:
    if unknown := set(data) - known:
        raise ValueError(f"unknown {', '.join(sorted(unknown))}; known are {', '.join(sorted(known))}")
