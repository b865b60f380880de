"""What may be shown of a reason that came from outside."""

import re

MAX_HINT_CHARS = 160


def safe_hint(text: str, *, secret: str = "") -> str:
    """Shortens an upstream's reason to one line without markup and without anything that looks like a key."""
    if secret:
        text = text.replace(secret, "…")
    text = re.sub(r"<[^>]*>|[<>{}\[\]\"`\\]", " ", text)
    text = re.sub(r"(?i)\b(bearer|api[_ -]?key|key|token|secret|password|authorization)\b\s*[:=]\s*\S+", r"\1 …", text)
    text = re.sub(r"(?i)\b(sk|pk|rk|key|xai|gsk|hf|ghp|AIza)[-_][\w.*-]+|\bAIza[\w-]+|\b[\w.*-]{24,}", "…", text)
    text = re.sub(r"(?i)\bbearer\s+\S+", "…", text)
    text = " ".join(text.split())
    return text if len(text) <= MAX_HINT_CHARS else text[: MAX_HINT_CHARS - 1] + "…"
