"""Calculates exactly, with fractions inside and at most 15 digits outside."""

import ast
import math
import re
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any, NoReturn

from pydantic import Field
from simpleeval import FunctionNotDefined, InvalidExpression, NameNotDefined, SimpleEval

from assistants.errors import CodedError
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool

MAX_BITS = 8_192
DIGITS = 15
_ROUGHLY = Context(prec=30)
_WRITTEN_SIGNS = {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "²": "**2", "³": "**3", "^": "**"}
_SIGNS = str.maketrans(_WRITTEN_SIGNS | dict.fromkeys("€$£\u00a0\u202f", ""))
_NUMBER = r"\d[\d_]*(?:[.,]\d+)*(?:[eE][+-]?\d{1,3}(?!\w))?|\.\d+"
_TOKEN = re.compile(rf"\s*(?:(?P<number>{_NUMBER})|(?P<name>[a-zA-Z]+)|(?P<sign>\*\*|//|[-+*/%(),;]))\s*")
_TIMES = re.compile(r"(?<=%)\s*(?:of|von|vom)\b|(?<=\d)\s*x\s*(?=\d)", re.IGNORECASE)


@tool()
def calculate(
    context: ToolContext,
    expression: Annotated[
        str,
        Field(min_length=1, max_length=500, description="Such as (118 - 31) / 31, 17% of 2340 or round(19.99 * 1.19, 2)."),
    ],
) -> Any:
    """Calculate an arithmetic expression exactly. Use it for every calculation instead of doing it in your head.

    It knows + - * / // % **, brackets, percentages, pi and e, and abs, round, floor, ceil, min, max, sum, mean, sqrt, exp,
    ln, log, sin, cos and tan. Write numbers plainly, with a point before the decimals.
    """
    value = evaluate(expression)
    text, exact = write_number(value)
    return {"expression": expression, "value": text, **({} if exact else {"note": f"Rounded to {DIGITS} digits."})}


def evaluate(expression: str) -> Fraction:
    """The exact value. Raises `BAD_ARGUMENTS` with what is wrong, also for what would take too long."""
    try:
        plain = " ".join(_tokens(expression))
        value = _evaluator().eval(plain, ast.parse(plain, mode="eval").body)
        return value if isinstance(value, Fraction) else _bare_function()
    except FunctionNotDefined as error:
        raise _bad(f"There is no function “{error.func_name}”.") from None
    except NameNotDefined as error:
        raise _bad(f"“{error.name}” is no number.") from None
    except ZeroDivisionError:
        raise _bad("Nothing can be divided by zero.") from None
    except (SyntaxError, RecursionError, MemoryError):
        raise _bad("This is no complete expression.") from None
    except (InvalidExpression, InvalidOperation, TypeError, ValueError, ArithmeticError) as error:
        raise _bad(str(error) if isinstance(error, _Unusable) else "This can't be calculated.") from None


def write_number(value: Fraction) -> tuple[str, bool]:
    """The number in plain digits, and whether that is all of it."""
    if value.denominator == 1 and value.numerator.bit_length() <= MAX_BITS:
        return str(value.numerator), True
    rough = Context(prec=DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
    exact = Fraction(rough) == value
    text = f"{rough:f}" if -20 < rough.adjusted() < 40 else f"{rough:e}"
    return (text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text), exact


class _Unusable(ValueError):
    """Carries a sentence for whoever wrote the expression."""


# --- reading ---------------------------------------------------------------------------------------------------------
def _tokens(expression: str) -> list[str]:
    """The expression cut into numbers, names and signs; anything else is refused, so nothing else is ever parsed."""
    text = _TIMES.sub(" * ", expression.translate(_SIGNS))
    commas_part = _commas_part(text)
    tokens: list[str] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _Unusable(f"“{text[place:].strip()[:20]}” is not understood.")
        place = found.end()
        if number := found["number"]:
            tokens.append(",".join(_plain_number(each) for each in (number.split(",") if commas_part else [number])))
        elif found["sign"] == "%" and not re.match(r"[\w.(]", text[place:]):
            # A value after the sign would make it the remainder of a division.
            _make_share(tokens)
        else:
            tokens.append("," if found["sign"] == ";" else (found["name"] or found["sign"]).lower())
    return tokens


def _commas_part(text: str) -> bool:
    """Whether commas part the values of a function. With semicolons for that they are decimal, as without a function."""
    if ";" in text or not re.search(r"[a-zA-Z]\s*\(", text):
        return False
    if any(re.search(r"\d,\d", inner) and re.search(r",\s", inner) for inner in re.findall(r"\(([^()]*)\)", text)):
        raise _Unusable("It is not clear which commas part values: part them by semicolons.")
    return True


def _make_share(tokens: list[str]) -> None:
    """Puts the value that ends here, a number or a pair of brackets, into brackets with its hundredth."""
    start, depth = len(tokens) - 1, 0
    while start >= 0:
        depth += (tokens[start] == ")") - (tokens[start] == "(")
        if depth <= 0:
            break
        start -= 1
    if start > 0 and tokens[start] == "(" and tokens[start - 1].isalpha():
        start -= 1
    if start < 0:
        raise _Unusable("A percent sign stands behind a number.")
    tokens[start:] = ["(", *tokens[start:], "/", "100", ")"]


def _plain_number(written: str) -> str:
    """1.234,56 and 1,234.56 tell by themselves how they are meant, and so do 12,5 and 1,234,567; 1,234 does not."""
    digits, exponent = re.fullmatch(r"([\d_.,]+)([eE].*)?", written).groups(default="")  # type: ignore[union-attr]
    kinds = [each for each in digits if each in ".,"]
    if len(set(kinds)) == 2:
        decimal = kinds[-1]
        if kinds.count(decimal) > 1 or not re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+[.,]\d+", digits):
            raise _Unusable(f"“{written}” is not clear as a number.")
    elif len(kinds) > 1:
        decimal = ""
        if not re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits):
            raise _Unusable(f"“{written}” is not clear as a number.")
    elif kinds == [","]:
        decimal = ","
        if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
            raise _Unusable(f"“{written}” may be {written.replace(',', '')} or {written.replace(',', '.')}: write which.")
    else:
        decimal = "."
    kept = "".join("." if each == decimal else each for each in digits if each.isdigit() or each == decimal)
    return (kept.lstrip("0") or "0") + exponent if "." not in kept else kept + exponent


# --- evaluating ------------------------------------------------------------------------------------------------------
def _evaluator() -> SimpleEval:
    """Only numbers, signs, the functions below and two names: no attributes, no texts, no lists, no conditions."""
    evaluator = SimpleEval(operators=OPERATORS, functions=FUNCTIONS, names=NAMES)
    handlers = {kind: evaluator.nodes[kind] for kind in (ast.UnaryOp, ast.BinOp, ast.Call, ast.Name)}
    evaluator.nodes = {**handlers, ast.Constant: lambda node: _constant(evaluator.expr, node)}
    return evaluator


def _constant(expression: str, node: ast.Constant) -> Fraction:
    # The text says more than the float that Python made of it: 0.1 is a tenth.
    written = ast.get_source_segment(expression, node) or ""
    if abs(Decimal(written).adjusted()) > 400:
        raise _Unusable("A number in it is too large.")
    return Fraction(written)


def _bare_function() -> NoReturn:
    raise _Unusable("A function needs brackets with numbers in them.")


def _bounded(operation: Callable[..., Fraction]) -> Callable[..., Fraction]:
    def run(*values: Fraction) -> Fraction:
        if not all(isinstance(value, Fraction) for value in values):
            _bare_function()
        result = Fraction(operation(*values))
        if max(result.numerator.bit_length(), result.denominator.bit_length()) > MAX_BITS:
            raise _Unusable("The result is too large.")
        return result

    return run


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * size > MAX_BITS:
            raise _Unusable("The power is too large.")
        return base ** int(exponent)
    if base < 0:
        raise _Unusable("A negative number has no such power.")
    return _rough(lambda context: context.power(_decimal(base), _decimal(exponent)))


def _rough(operation: Callable[[Context], Decimal]) -> Fraction:
    """What has no exact value, to 30 digits."""
    result = operation(_ROUGHLY.copy())
    if not result.is_finite() or abs(result.adjusted()) > 400:
        raise _Unusable("The result is too large.")
    return Fraction(result)


def _decimal(value: Fraction) -> Decimal:
    return _ROUGHLY.divide(Decimal(value.numerator), Decimal(value.denominator))


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise _Unusable("A negative number has no square root.")
    exact = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return exact if exact * exact == value else _rough(lambda context: context.sqrt(_decimal(value)))


def _logarithm(value: Fraction, base: Fraction | None = None) -> Fraction:
    if value <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise _Unusable("This logarithm does not exist.")
    if base is None:
        return _rough(lambda context: context.ln(_decimal(value)))
    if base == 10:
        return _rough(lambda context: context.log10(_decimal(value)))
    return _rough(lambda context: context.divide(context.ln(_decimal(value)), context.ln(_decimal(base))))


def _wave(function: Callable[[float], float]) -> Callable[[Fraction], Fraction]:
    return lambda angle: Fraction(Decimal(repr(round(function(float(angle)), 15))))


def _round(value: Fraction, digits: Fraction = Fraction(0)) -> Fraction:
    """Halves go away from zero, as people round."""
    if digits.denominator != 1 or abs(digits) > 30:
        raise _Unusable("The number of digits has to be a whole number up to 30.")
    scale = Fraction(10) ** int(digits)
    scaled = math.floor(abs(value) * scale + Fraction(1, 2)) / scale
    return scaled if value >= 0 else -scaled


def _bad(message: str) -> CodedError:
    return CodedError(
        code="BAD_ARGUMENTS",
        field="expression",
        message=message,
        fix="Write one expression with plain numbers, + - * / ** and brackets.",
    )


OPERATORS = {
    ast.Add: _bounded(lambda a, b: a + b),
    ast.Sub: _bounded(lambda a, b: a - b),
    ast.Mult: _bounded(lambda a, b: a * b),
    ast.Div: _bounded(lambda a, b: a / b),
    ast.FloorDiv: _bounded(lambda a, b: Fraction(a // b)),
    ast.Mod: _bounded(lambda a, b: a % b),
    ast.Pow: _bounded(_power),
    ast.USub: _bounded(lambda a: -a),
    ast.UAdd: _bounded(lambda a: a),
}
FUNCTIONS = {
    "abs": _bounded(abs),
    "round": _bounded(_round),
    "floor": _bounded(lambda value: Fraction(math.floor(value))),
    "ceil": _bounded(lambda value: Fraction(math.ceil(value))),
    "min": _bounded(lambda *values: min(values)),
    "max": _bounded(lambda *values: max(values)),
    "sum": _bounded(lambda *values: sum(values, Fraction(0))),
    "mean": _bounded(lambda *values: sum(values, Fraction(0)) / len(values)),
    "sqrt": _bounded(_root),
    "exp": _bounded(lambda value: _rough(lambda context: context.exp(_decimal(value)))),
    "ln": _bounded(lambda value: _logarithm(value)),
    "log": _bounded(lambda value, base=Fraction(10): _logarithm(value, base)),
    "sin": _bounded(_wave(math.sin)),
    "cos": _bounded(_wave(math.cos)),
    "tan": _bounded(_wave(math.tan)),
}
NAMES = {
    "pi": Fraction("3.14159265358979323846264338328"),
    "e": Fraction("2.71828182845904523536028747135"),
}
