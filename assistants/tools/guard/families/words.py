"""Pieces that expressions about spoken orders are put together from; all of them bounded, none backs up."""

# Between two words of an order: spaces, line breaks, marks of emphasis. A full stop ends the order.
GAP = r"[\s*_`\"'’“”,:;()\[\]+-]{1,8}+"
# Whoever reminds somebody not to forget something orders the opposite.
UNLESS_NOT = "".join(f"(?<!{word} )" for word in ("not", "n't", "n’t", "never", "nicht", "nie"))


def either(words: str) -> str:
    """One of the words, which are parted by blanks; a `+` is a blank within."""
    return "(?:" + "|".join(word.replace("+", " ") for word in words.split()) + ")"


def some(words: str, most: int) -> str:
    """Up to `most` of the words in any order, each with the gap behind it."""
    return f"(?:{either(words)}{GAP}){{0,{most}}}+"
