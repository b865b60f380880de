"""A conversation's page without a browser: loaded once, then kept up to date by what the server sends, as the script does."""

from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from django.test import Client
from django.urls import reverse

from assistants.models import Thread

VOID = {"input", "br", "hr", "img", "meta", "link", "path", "rect", "circle", "line", "polyline", "polygon"}
# What a reload does not repeat: tokens against forgery, clocks that run on, what is said aloud once.
PASSING = {"data-since", "data-say", "data-last", "value"}


@dataclass(eq=False)
class Element:
    """One element; `children` are elements and texts."""

    name: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    def elements(self) -> list["Element"]:
        return [child for child in self.children if isinstance(child, Element)]

    def find(self, **wanted: str) -> "Element | None":
        """The first element below with these attributes."""
        for child in self.elements():
            if all(child.attributes.get(name.strip("_"), "") == value for name, value in wanted.items()):
                return child
            if below := child.find(**wanted):
                return below
        return None

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def outline(self) -> str:
        """The element as text, without what a reload does not repeat."""
        if self.attributes.get("class") == "clock" or self.attributes.get("name") == "csrfmiddlewaretoken":
            return ""
        kept = "".join(f' {n}="{escape(v)}"' for n, v in sorted(self.attributes.items()) if n not in PASSING)
        inner = "".join(" ".join(c.split()) if isinstance(c, str) else c.outline() for c in self.children)
        return f"<{self.name}{kept}>{inner}</{self.name}>"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in [element.name for element in self._open[1:]]:
            while self._open.pop().name != tag:
                pass

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def read(html: str) -> Element:
    """Parses a page or a fragment."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root


class Page:
    """What a reader has in front of them. `poll` takes what the polling address sends, as a blocked socket makes it."""

    def __init__(self, browser: Client, thread: Thread) -> None:
        self.browser, self.thread = browser, thread
        answer = browser.get(reverse("thread", args=[thread.chat_id]))
        assert answer.status_code == 200, answer.status_code
        self.root = read(answer.content.decode())
        self.seq = int(self.at("chat").attributes["data-seq"])

    def at(self, element_id: str) -> Element:
        found = self.root.find(id=element_id)
        assert found is not None, f"the page has no #{element_id}"
        return found

    def poll(self) -> None:
        """Asks once for news and applies them."""
        answer = self.browser.get(reverse("thread_events", args=[self.thread.chat_id]), {"after": self.seq}).json()
        assert "reset" not in answer
        for frame in answer["events"]:
            self.take(frame)

    def take(self, frame: dict) -> None:
        """Applies one frame, of a poll or of a socket."""
        if "m" in frame:
            self._grow(frame)
        elif "html" in frame:
            for element in read(frame["html"]).elements():
                self._put(element)
        self.seq = frame.get("n", self.seq)

    def texts(self) -> list[str]:
        """What was said, from top to bottom."""
        articles = [each for each in self.at("log").elements() if each.name == "article"]
        bodies = [each.find(_class="bubble") or each.find(_class="body") for each in articles]
        return ["\n".join(body.text().split("\n")).strip() for body in bodies if body]

    def parts(self) -> list[str]:
        """Every part that is kept up to date, for comparing two pages."""
        log = [each.outline() for each in self.at("log").elements()]
        return [self.at("heading").outline(), *log, self.at("state").outline()]

    def sidebar(self) -> str:
        return self.at("threads").text()

    def _grow(self, frame: dict) -> None:
        message = self.root.find(id=f"m{frame['m']}")
        body = message.find(_class="body") if message else None
        if body is None:
            return
        if "b" not in frame:
            body.children = []
            return
        while len(body.elements()) <= frame["b"]:
            body.children.append(Element("div", {"data-b": str(len(body.elements()))}))
        body.elements()[frame["b"]].children = read(frame["h"]).children

    def _put(self, element: Element) -> None:
        if "data-order" in element.attributes:
            self._place(element)
        elif self.root.find(id=element.id):
            self._replace(self.root, element)

    def _replace(self, parent: Element, element: Element) -> bool:
        for number, child in enumerate(parent.children):
            if isinstance(child, Element):
                if child.id == element.id:
                    parent.children[number] = element
                    return True
                if self._replace(child, element):
                    return True
        return False

    def _place(self, element: Element) -> None:
        log = self.at("log")
        others = [child for child in log.children if not (isinstance(child, Element) and child.id == element.id)]
        order = element.attributes["data-order"]
        place = len(others)
        while place and _order(others[place - 1]) > order:
            place -= 1
        log.children = [*others[:place], element, *others[place:]]


def _order(child: "Element | str") -> str:
    return child.attributes.get("data-order", "") if isinstance(child, Element) else ""
