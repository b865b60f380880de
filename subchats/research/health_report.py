"""What a health check found, as data for programs and as lines for people (rules 4.11)."""

from typing import Any

from .health import Health, Model, Probe

SCHEMA_VERSION = 1
STATUS_COMMAND = "manage.py status"


def as_report(health: Health) -> dict[str, Any]:
    """The report for programs; what it doesn't cover it says."""
    return {
        "healthSchemaVersion": SCHEMA_VERSION,
        "ok": health.category == "ok",
        "category": health.category,
        "command": "health",
        "probesSkipped": health.probes_skipped,
        "coverage": {
            "modelProvider": _passed(health, "orchestrator"),
            "subagentDispatch": _passed(health, "explorer"),
            "retrievalTools": False,
            "searchCuration": False,
            "indexHealth": False,
        },
        "config": {
            "ok": not health.config_error,
            "source": health.source,
            **({"message": health.config_error} if health.config_error else {}),
        },
        "models": {model.role: _model(model) for model in health.models if model.provider},
        "probes": [_probe(probe) for probe in health.probes],
        "indexHealth": {"separate": True, "command": STATUS_COMMAND, "included": False},
    }


def as_lines(health: Health) -> list[str]:
    """The same for people, the worst first."""
    lines = [f"{'ok' if health.category == 'ok' else 'not ok'}: {health.category}"]
    lines.append(f"  settings: {health.config_error or health.source}")
    for model in health.models:
        if model.provider:
            where = "no key needed" if model.auth == "local_runtime" else f"key: {model.auth}"
            lines.append(f"  {model.role}: {model.provider}/{model.id}, {where}{_why(model.category, model.message)}")
    for probe in health.probes:
        if probe.seconds is not None:
            lines.append(f"  {probe.role} asked: {probe.seconds:.1f} s{_why(probe.category, probe.message) or ', ok'}")
        else:
            lines.append(f"  {probe.role} not asked{_why(probe.category, probe.message)}")
    lines.append(f"  indexes are not part of this: {STATUS_COMMAND}")
    return lines


def _passed(health: Health, role: str) -> bool:
    return any(each.role == role and not each.skipped and each.category == "ok" for each in health.probes)


def _model(model: Model) -> dict[str, Any]:
    told = {"provider": model.provider, "id": model.id, "auth": model.auth}
    return {**told, "message": model.message} if model.message else told


def _probe(probe: Probe) -> dict[str, Any]:
    return {
        "role": probe.role,
        "skipped": probe.skipped,
        "ok": probe.category == "ok",
        "category": probe.category,
        **({} if probe.seconds is None else {"durationMs": round(probe.seconds * 1000)}),
        **({"message": probe.message} if probe.message else {}),
    }


def _why(category: str, message: str) -> str:
    return "" if category == "ok" else f": {category}. {message}".rstrip()
