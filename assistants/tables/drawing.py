"""Draws a chart as an SVG that carries its own styles and runs no script."""

import math
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from .charts import Chart

# Text and shapes that stand out from the paper of either look (4.5:1 and 3:1).
COLOURS = {
    "light": "#1d6b46 #b4540a #23589c #7b3c84 #a8401f #7c5700 #0f766e #5f6056 #9d174d #3f6212 #0369a1 #6d28d9".split(),
    "dark": "#6fd3a0 #f3a35b #8fb8f0 #d3a0dc #f19a7b #f3cf5b #5ed0c5 #a9ab9d #f9a8d4 #bef264 #7dd3fc #c4b5fd".split(),
}
INK = {"light": ("#20211c", "#5f6056"), "dark": ("#ecebe4", "#a9ab9d")}
# A line is told from its neighbours by its dashes too.
DASHES = ("", "6,3", "2,3", "9,3,2,3")
FONT = "Inter, system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif"
WIDTH, HEIGHT = 600, 360
LABEL_CHARS, LABELS, MARKS = 18, 12, 6
# XML has no way to say these.
UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def draw_chart(chart: Chart, *, dark: bool) -> str:
    """The chart on a transparent ground, for a light or a dark page."""
    pygal = _library()
    kinds = {"bar": pygal.Bar, "line": pygal.Line, "pie": pygal.Pie, "scatter": pygal.XY}
    drawing = kinds[chart.kind](_config(chart, dark))
    drawing.uuid = "drawn"
    drawing.add_xml_filter(lambda root: _plain(root, _clean(chart.title)))
    if chart.kind == "pie":
        for label, value in zip(chart.labels, chart.series[0].values, strict=True):
            drawing.add(f"{_clean(label)} · {_tick(value)}" if value is not None else _clean(label), value)
    else:
        _add_series(drawing, chart)
    return str(drawing.render(is_unicode=True))


@cache
def _library() -> Any:
    """Loaded only when it is needed: it takes as long as a page."""
    import pygal

    # Its hook for maps takes part in every later import, in a way that Python has given up and warns of.
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]
    return pygal


def _add_series(drawing: Any, chart: Chart) -> None:
    if chart.kind != "scatter":
        drawing.x_labels = [_clean(label) or " " for label in chart.labels]
    for number, series in enumerate(chart.series):
        values: list[Any] = list(series.values)
        if chart.kind == "scatter":
            pairs = zip(chart.places, series.values, strict=True)
            values = [pair for pair in pairs if None not in pair]
        dashes = DASHES[number % len(DASHES)] if chart.kind == "line" else ""
        drawing.add(_clean(series.name), values, stroke_style={"width": 2, **({"dasharray": dashes} if dashes else {})})


def _config(chart: Chart, dark: bool) -> Any:
    pygal = _library()
    theme = "dark" if dark else "light"
    ink, muted = INK[theme]
    style = pygal.style.Style(
        background="transparent",
        plot_background="transparent",
        foreground=ink,
        foreground_strong=ink,
        foreground_subtle=muted,
        guide_stroke_color=muted,
        major_guide_stroke_color=muted,
        guide_stroke_dasharray="1,5",
        major_guide_stroke_dasharray="1,5",
        colors=tuple(COLOURS[theme]),
        font_family=FONT,
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
        title_font_size=13,
        opacity="1",
        transition="0s",
    )
    pie, labels = chart.kind == "pie", chart.labels if chart.kind in ("bar", "line") else ()
    crowded, columns = len(labels) > LABELS, 2 if pie else _legend_columns(len(chart.series))
    return pygal.Config(
        style=style,
        js=[],
        width=WIDTH,
        height=HEIGHT,
        disable_xml_declaration=True,
        margin=8,
        x_title=None if pie else _clean(chart.x),
        y_title=_clean(chart.series[0].name) if len(chart.series) == 1 and not pie else None,
        show_legend=pie or len(chart.series) > 1,
        legend_at_bottom=not pie,
        legend_at_bottom_columns=columns,
        truncate_legend=28 if pie else 72 // columns,
        truncate_label=LABEL_CHARS,
        x_label_rotation=30 if crowded or sum(len(label[:LABEL_CHARS]) for label in labels) > 60 else 0,
        x_labels_major_count=LABELS if crowded else None,
        show_minor_x_labels=not crowded,
        value_formatter=_tick,
        x_value_formatter=_tick,
        stroke=chart.kind != "scatter",
        dots_size=2 if len(chart.labels) > 60 else 3.5,
        allow_interruptions=True,
        no_data_text="",
        y_labels=_marks(chart) if not pie else None,
        xrange=_spread([_drawn_places(chart)]),
    )


def _legend_columns(series: int) -> int:
    """One line of names, or two: of the lines that a remainder needs, the library leaves room for some only."""
    return series if series <= 4 else (series + 1) // 2


def _drawn_places(chart: Chart) -> list[float | None]:
    """The places along the axis at which something is drawn: the library knows of no others."""
    drawn = zip(*(each.values for each in chart.series), strict=True)
    return [place for place, values in zip(chart.places, drawn, strict=False) if any(value is not None for value in values)]


def _marks(chart: Chart) -> list[float]:
    """Round numbers from below the least value to above the largest. Where values stand over an axis, nought is among them."""
    columns = [each.values for each in chart.series]
    known = [value for column in columns for value in column if value is not None]
    known += [0] if chart.kind != "scatter" else []
    low, high = _spread([known]) or (min(known), max(known))
    rough = (high - low) / MARKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = size * next(each for each in (1, 2, 2.5, 5, 10, 20) if size * each >= rough)
    return [number * step for number in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _spread(columns: Sequence[Sequence[float | None]]) -> tuple[float, float] | None:
    """An axis with some room for values that are next to equal, between which the library finds none."""
    known = [value for column in columns for value in column if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    room = max(abs(low), abs(high)) * 0.01 or 1
    return (low - room, high + room) if high - low < room / 1000 else None


def _tick(value: Any) -> str:
    """A number at an axis, which tells how large things are; every digit stands in the table."""
    if not isinstance(value, int | float):
        return str(value)
    if value and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.3g}"
    # A narrow space between thousands reads the same in every language.
    return f"{value:,.4f}".rstrip("0").rstrip(".").replace(",", "\u202f")


def _clean(text: str) -> str:
    return UNSPEAKABLE.sub("", text).strip()


def _plain(root: Any, title: str) -> Any:
    """Takes out what the library adds for its own script: the script, the values for it, its comments."""
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in ("script", "desc"):
                parent.remove(child)
    for child in root:
        if child.tag.rpartition("}")[2] == "title":
            child.text = title
    return root
