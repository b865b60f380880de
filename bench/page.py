"""Measures one streamed answer as a person sees it, in Chromium's page beside the others' pages: `python -m bench.page`."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, sync_playwright

from bench.beside import BESIDE, OURS, installed, start
from bench.marks import Heard, summary
from bench.ours import Ours
from bench.processes import FLOOR_PYTHON, Meter, busy_seconds, family
from bench.sides import Side
from bench.streams import Load, start_upstream
from bench.table import table

ANSWER_SECONDS = 60.0
LOAD = Load(1, n=500, delay=10, shape="markdown")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
# Where to write on each side's page.
BOXES = {OURS: "#text", "relay": "#text", "chainlit": "#chat-input", "chainlit-raw": "#chat-input"}
FIGURES = ("first_p50", "added_p50", "added_p99", "main_thread", "script", "layout", "long_tasks", "other_cores")
# Notes, with every change of the document, the marks that were not there before; and when Enter was pressed.
OBSERVER = """
(() => {
  const kept = (window.bench = {frames: [], top: -1, sent: 0, long: []});
  const now = () => performance.timeOrigin + performance.now();
  const read = (text) => {
    const known = Math.max(0, text.lastIndexOf(`q${kept.top}t`));
    const fresh = [];
    for (const [mark, number] of text.slice(known).matchAll(/q(\\d+)t\\d+(?:r\\d+)?z/g)) {
      if (+number <= kept.top) continue;
      kept.top = +number;
      fresh.push(mark);
    }
    if (fresh.length) kept.frames.push([now(), fresh.join(" ")]);
  };
  new MutationObserver((changes) => {
    for (const {type, target, addedNodes} of changes) {
      if (type === "characterData") read(target.data);
      else for (const node of addedNodes) read(node.textContent || "");
    }
  }).observe(document, {subtree: true, childList: true, characterData: true});
  addEventListener("keydown", (event) => { if (event.key === "Enter") kept.sent ||= now(); }, true);
  const slow = new PerformanceObserver((list) => kept.long.push(...list.getEntries().map(({duration}) => duration)));
  slow.observe({type: "longtask"});
})();
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.page")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each page after its answer")
    pages = [name for name in BESIDE if name in BOXES]
    parser.add_argument("--beside", nargs="*", choices=pages, default=["relay", "chainlit"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name, ExitStack() as ends:
        upstream = start_upstream(Path(name), FLOOR_PYTHON)
        ends.callback(upstream.stop)
        sides = []
        for beside in (*installed(given.beside), OURS):
            sides.append(start(beside, upstream.port, Path(name), people=1, chats=given.rounds + 1))
            ends.callback(sides[-1].server.stop)
            sides[-1].server.wait()
        browser = ends.enter_context(chromium())
        rows = []
        for number in range(-1, given.rounds):
            for side in sides if number % 2 else sides[::-1]:
                row = {"round": number, "side": side.name, "shape": LOAD.shape, **answer(browser, side, given.pictures)}
                print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
                # The first one warms everything up.
                rows += [row] if number >= 0 else []
    print(table(rows, by="shape", figures=FIGURES))
    return 0


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's browser, since the one that Playwright would fetch is not needed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def answer(browser: Browser, side: Side, pictures: Path | None) -> dict[str, Any]:
    """One answer in a fresh window: as `marks.summary`, but seen in the document, and what the page's main thread spent
    for 1,000 deltas, in milliseconds."""
    origin = f"http://127.0.0.1:{side.server.port}"
    with ExitStack() as ends:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        ends.callback(context.close)
        address = origin + "/"
        if isinstance(side, Ours):
            context.add_cookies([{"name": "sessionid", "value": side.browser(0).cookies["sessionid"], "url": origin}])
            address = origin + side.chat(0)
        context.add_init_script(OBSERVER)
        page = context.new_page()
        wire = context.new_cdp_session(page)
        wire.send("Performance.enable")
        page.goto(address)
        page.click(BOXES[side.name])
        page.wait_for_timeout(1500)
        page.keyboard.insert_text(LOAD.order().text())
        page.wait_for_timeout(300)
        page.evaluate("bench.long.length = 0")
        before, clock = spent(wire), time.time_ns() // 1000 - time.monotonic_ns() // 1000
        busy, own = busy_seconds(), Meter(family(os.getpid()))
        page.keyboard.press("Enter")
        give_up = time.monotonic() + ANSWER_SECONDS
        # Not `wait_for_function`: it evaluates text inside the page, which a strict policy forbids.
        while page.evaluate("bench.top") < LOAD.n - 1 and time.monotonic() < give_up:
            page.wait_for_timeout(250)
        page.wait_for_timeout(500)
        used = own.read()
        busy, after = busy_seconds() - busy - used.seconds, spent(wire)
        seen = page.evaluate("bench")
        if pictures:
            page.screenshot(path=pictures / f"{side.name}.png")
    heard = Heard(expected=LOAD.n, sent=int(seen["sent"] * 1000) - clock)
    heard.frames = [(int(at * 1000) - clock, marks) for at, marks in seen["frames"]]
    told = {name: (after[name] - before[name]) * 1_000_000 / LOAD.n for name in after}
    return {
        **summary([heard]),
        "main_thread": told["TaskDuration"],
        "script": told["ScriptDuration"],
        "layout": told["LayoutDuration"] + told["RecalcStyleDuration"],
        "long_tasks": len(seen["long"]),
        "longest": max(seen["long"], default=0),
        "other_cores": max(0.0, busy) / used.wall,
    }


def spent(wire: CDPSession) -> dict[str, float]:
    """Seconds of the page's main thread so far, by the browser's own account."""
    names = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    told = {each["name"]: each["value"] for each in wire.send("Performance.getMetrics")["metrics"]}
    return {name: told[name] for name in names}


if __name__ == "__main__":
    sys.exit(main())
