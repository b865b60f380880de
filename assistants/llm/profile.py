"""What is needed to reach one model, as a value that holds no database row."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TimeLimits:
    """Seconds until a model call is given up: to connect, to the first token, between tokens, altogether (F19, S6)."""

    connect: float = 10
    first_token: float = 60
    idle: float = 30
    total: float = 600


@dataclass(frozen=True)
class Profile:
    """One way to reach one model.

    `provider` is builtin, openai (any OpenAI-compatible server), anthropic, google, local or scripted.
    `context_window` is what the model can read at once, in tokens; 0 where that is not known.
    `input_price` and `output_price` are per million tokens, in the tenant's currency.
    """

    provider: str
    model: str
    label: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    max_output_tokens: int = 4096
    context_window: int = 0
    streaming: bool = True
    makes_titles: bool = True
    limits: TimeLimits = TimeLimits()
    input_price: float = 0
    output_price: float = 0
