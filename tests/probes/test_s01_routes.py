"""S01: every address, method and role: what is not one's own is a 404, and no body breaks the server."""

import os
from dataclasses import dataclass, field
from itertools import product

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.kit.browsers import HTMX, PAGE, PROGRAM
from tests.probes.town import ASKED_HASH, CANARY, EVIDENCE, POINTER, RESULT, changes, record, seen, undone

FOREIGN = ("bob", "charlie", "root")
STRANGERS = ("anonymous", "visitor")
NOWHERE = {"chat": "chat0000000000000000", "uuid": "00000000-0000-4000-8000-000000000000", "int": 987654321}


@dataclass(frozen=True)
class Route:
    """An address: its name, what it takes, what of Alice's stands in it, and the right that it asks for."""

    name: str
    methods: str = "POST"
    of: str = ""
    kind: str = "chat"
    needs: str = "write"
    data: dict[str, object] = field(default_factory=dict)
    more: tuple[object, ...] = ()

    def path(self, subject: object) -> str:
        return reverse(self.name, args=[subject, *self.more])


ROUTES = {
    "c/<str:chat_id>/": Route("thread", "GET", "thread", needs="read"),
    "c/<str:chat_id>/events/": Route("thread_events", "GET", "thread", needs="read", data={"after": "0"}),
    "c/<str:chat_id>/older/": Route("thread_older", "GET", "thread", needs="read", data={"before": "3"}),
    "c/<str:chat_id>/state/": Route("thread_state", "GET", "child", needs="read"),
    "c/<str:chat_id>/send/": Route("send_message", of="thread", data={"text": "Hi"}),
    "c/<str:chat_id>/seen/": Route("mark_seen", of="thread", needs="read", data={"seq": "1"}),
    "c/<str:chat_id>/rename/": Route("rename_thread", of="thread", data={"title": "Mine"}),
    "c/<str:chat_id>/pin/": Route("pin_thread", of="thread"),
    "c/<str:chat_id>/archive/": Route("archive_thread", of="thread"),
    "c/<str:chat_id>/delete/": Route("delete_thread", of="thread"),
    "c/<str:chat_id>/share/": Route("share_thread", of="thread", data={"username": "bob"}),
    "c/<str:chat_id>/unshare/": Route("unshare_thread", of="thread", data={"username": "rita"}),
    "c/<str:chat_id>/send-back/": Route("send_back", of="child"),
    "c/<str:chat_id>/run-again/": Route("run_again", of="child"),
    "c/<str:chat_id>/workflow/": Route(
        "mark_step", of="child", data={"workflow": "research-report", "node": "release", "completed": "1"}
    ),
    "c/<str:chat_id>/workflow/again/": Route(
        "run_from_step", of="child", data={"workflow": "research-report", "node": "write"}
    ),
    "c/<str:chat_id>/evidence/<int:evidence_id>/": Route("evidence", "GET", "thread", needs="read", more=(EVIDENCE,)),
    "c/<str:chat_id>/results/<str:feedback_id>/": Route("give_feedback", of="thread", data={"useful": "1"}, more=(RESULT,)),
    "c/<str:chat_id>/tables/<str:pointer>/": Route("table", "GET", "thread", needs="read", more=(POINTER,)),
    "c/<str:chat_id>/tables/<str:pointer>/<str:kind>/": Route(
        "table_file", "GET", "child", needs="read", more=(POINTER, "csv")
    ),
    "c/<str:chat_id>/export/<str:kind>/": Route("export_thread", "GET", "thread", needs="read", more=("json",)),
    "message/<uuid:message_id>/edit/": Route("edit_message", of="message", kind="uuid", data={"text": "Hi"}),
    "message/<uuid:message_id>/show/": Route("show_branch", of="message", kind="uuid"),
    "message/<uuid:message_id>/fork/": Route("fork_thread", of="message", kind="uuid"),
    "question/<uuid:call_id>/": Route("answer_question", of="question", kind="uuid", data={"option": "Red"}),
    "call/<uuid:call_id>/decide/": Route("decide_call", of="call", kind="uuid", data={"happened": "1"}),
    "call/<uuid:call_id>/withheld/": Route("withheld", "GET", of="call", kind="uuid", needs="read"),
    "call/<uuid:call_id>/arguments/": Route("call_arguments", "GET", of="asked", kind="uuid", needs="read"),
    "call/<uuid:call_id>/approve/": Route("approve_call", of="asked", kind="uuid", data={"hash": ASKED_HASH}),
    "plan/<uuid:call_id>/": Route("decide_plan", of="plan", kind="uuid", data={"decision": "approve", "hash": ASKED_HASH}),
    "call/<uuid:call_id>/reject/": Route("reject_call", of="asked", kind="uuid", data={"words": "No"}),
    "call/<uuid:call_id>/chart/": Route("chart", "GET", of="chart", kind="uuid", needs="read"),
    "turn/<int:turn_id>/stop/": Route("stop_turn", of="active", kind="int"),
    "turn/<int:turn_id>/retry/": Route("retry_turn", of="turn", kind="int"),
    "turn/<int:turn_id>/now/": Route("send_now", of="queued", kind="int"),
    "turn/<int:turn_id>/steer/": Route("steer", of="queued", kind="int"),
    "turn/<int:turn_id>/more/": Route("top_up", of="active", kind="int"),
    "turn/<int:turn_id>/unqueue/": Route("unqueue", of="queued", kind="int"),
}
# Nothing of anybody's stands in these; the methods that they take.
OPEN = {
    "": ("home", "GET"),
    "login/": ("login", "GET POST PUT OPTIONS"),
    "logout/": ("logout", "POST OPTIONS"),
    "enter/<str:uid>/<str:token>/": ("enter", "GET POST"),
    "preferences/": ("save_preferences", "POST"),
    "search/": ("search", "GET"),
    "inbox/": ("inbox", "GET"),
    "budget/": ("budget", "GET"),
    "healthz": ("healthz", "GET"),
    "readyz": ("readyz", "GET"),
    "metrics": ("metrics", "GET"),
    "c/": ("open_thread", "POST"),
    "import/": ("import_threads", "POST"),
}
MODELS = (
    "assistant",
    "auditentry",
    "budget",
    "spendentry",
    "documentroot",
    "llmprofile",
    "tenant",
    "domain",
    "thread",
    "turn",
    "user",
)
PAGES = ("", "add/", "<path:object_id>/history/", "<path:object_id>/delete/", "<path:object_id>/change/", "<path:object_id>/")
ADMIN = {f"admin/assistants/{model}/{page}" for model, page in product(MODELS, PAGES)} | {
    *(f"admin/subchats/{model}/{page}" for model, page in product(("workflow", "datasourcegrant", "localdiscovery"), PAGES)),
    "admin/assistants/assistant/<path:object_id>/research/",
    "admin/assistants/assistant/<path:object_id>/explorer/<str:action>/",
    "admin/assistants/assistant/<path:object_id>/trial/",
    "admin/assistants/assistant/<path:object_id>/versions/",
    "admin/assistants/assistant/<path:object_id>/versions/<int:number>/restore/",
    "admin/assistants/user/<id>/password/",
    *(f"admin/{page}" for page in ("", "login/", "logout/", "password_change/", "password_change/done/")),
    *(f"admin/auth/group/{page}" for page in PAGES),
    *("admin/autocomplete/", "admin/jsi18n/", "admin/r/<path:content_type_id>/<path:object_id>/"),
    *("admin/^(?P<app_label>assistants|auth|subchats)/$", "admin/(?P<url>.*)$"),
}


def patterns(resolver: URLResolver, before: str = "") -> set[str]:
    found: set[str] = set()
    for each in resolver.url_patterns:
        address = before + str(each.pattern)
        found |= {address} if isinstance(each, URLPattern) else patterns(each, address)
    return found


def test_s01_every_route_of_the_site_stands_in_a_table_of_this_probe():
    routes = patterns(get_resolver())

    assert routes - set(ROUTES) - set(OPEN) - ADMIN == set(), "say here who may use the new route"
    assert (set(ROUTES) | set(OPEN) | ADMIN) - routes == set()


def ask(place, who, route, subject, **headers):
    browser = place.browser(who, **headers)
    return (browser.get if route.methods == "GET" else browser.post)(route.path(subject), route.data)


@pytest.mark.parametrize("headers", [PAGE, HTMX], ids=["page", "htmx"])
def test_s01_what_is_not_ones_own_looks_like_what_does_not_exist_and_nothing_happens(place, headers):
    before, differing = record(), []

    for route in ROUTES.values():
        absent = seen(ask(place, "bob", route, NOWHERE[route.kind], **headers))
        for who in FOREIGN:
            foreign = seen(ask(place, who, route, place.alice.number(route.of), **headers))
            if foreign != absent or foreign[0] != 404:
                differing.append((route.name, who, foreign[0], absent[0]))

    assert differing == []
    assert changes(before) == {}


@pytest.mark.parametrize(("headers", "told"), [(PAGE, (302, "/login/")), (HTMX, (401, ""))], ids=["page", "htmx"])
def test_s01_a_stranger_is_led_to_the_sign_in_page_or_told_so(place, headers, told):
    before, answers = record(), set()

    for route, who in product(ROUTES.values(), STRANGERS):
        subject = place.alice.number(route.of) if who == "visitor" else NOWHERE[route.kind]
        answer = ask(place, who, route, subject, **headers)
        answers.add((answer.status_code, answer.headers.get("Location", "").partition("?")[0]))
        assert CANARY not in answer.content.decode()

    assert answers == {told}
    assert changes(before) == {}


@pytest.mark.parametrize("headers", [PAGE, HTMX], ids=["page", "htmx"])
def test_s01_s05_who_may_only_read_gets_to_read_and_nothing_else(place, headers):
    before, wrong = record(), []

    for route in ROUTES.values():
        status = ask(place, "rita", route, place.alice.number(route.of), **headers).status_code
        if status not in ((200, 204, 302) if route.needs == "read" else (403,)):
            wrong.append((route.name, status))

    assert wrong == []
    assert changes(before) == {}


@pytest.mark.parametrize("headers", [PAGE, HTMX, PROGRAM], ids=["page", "htmx", "program"])
def test_s01_the_owner_gets_through_everywhere(place, headers):
    wrong = []

    for route in ROUTES.values():
        with undone():
            status = ask(place, "alice", route, place.alice.number(route.of), **headers).status_code
        if status >= 400:
            wrong.append((route.name, status))

    assert wrong == []


def test_s01_no_other_method_is_taken(place):
    before, wrong = record(), []
    takes = {route.path(place.alice.number(route.of)): route.methods for route in ROUTES.values()}
    takes |= {reverse(name, args=["x", "y"] if name == "enter" else []): methods for name, methods in OPEN.values()}

    for (path, taken), method in product(takes.items(), ("GET", "POST", "PUT", "DELETE")):
        if method not in taken.split():
            status = place.browser("anonymous").generic(method, path).status_code
            if status != 405:
                wrong.append((path, method, status))

    assert wrong == []
    assert changes(before) == {}


@pytest.mark.parametrize("who", ["rita", "charlie", "anonymous"])
def test_s01_a_conversation_is_opened_with_ones_own_assistants_only(place, who):
    before = record()
    lead = place.ground.lead.pk

    answers = [seen(place.browser(who).post("/c/", {"assistant": number, "text": "Hi"})) for number in (lead, NOWHERE["int"])]

    assert answers[0] == answers[1]
    assert answers[0][0] == (401 if who == "anonymous" else 404)
    assert changes(before) == {}


FORM = "application/x-www-form-urlencoded"
BODIES = {
    "nothing": (b"", FORM),
    "JSON": (b'{"text": {"a": [1]}, "title": 3, "assistant": [], "username": null}', "application/json"),
    "a number where a text is due": (b"text=1&title=&username=&assistant=x&option=&happened=7&seq=-1", FORM),
    "bytes that are no text": (b"text=%00%ff&title=%00&username=%00&option=%00&theme=%00&key=%00&%ff=%zz", FORM),
    "a file for a text": (
        b'--x\r\nContent-Disposition: form-data; name="text"; filename="a"\r\n\r\nhi\r\n--x--\r\n',
        "multipart/form-data; boundary=x",
    ),
    "long words": (b"title=" + b"x" * 5000 + b"&username=" + b"x" * 5000 + b"&key=" + b"k" * 500, FORM),
}
# These break before any view sees them, so one address says it for all.
UNREADABLE = {
    "a form without a boundary": (b"--x\r\n\r\ntext", "multipart/form-data"),
    "a form that breaks off": (b'--x\r\nContent-Disposition: form-data; name="text"', "multipart/form-data; boundary=x"),
    "an unknown charset": (b"text=hi", FORM + "; charset=nonsense"),
    "half a character": (b"text=\xed\xa0\x80", FORM + "; charset=utf-16"),
    "too many fields": (b"a=1&" * 2000, FORM),
    "too much": (b"text=" + b"x" * (1024 * 1024 + 1), FORM),
}


@pytest.mark.parametrize("body", [*BODIES, *UNREADABLE])
def test_s01_no_body_breaks_the_server(place, body):
    content, kind = (BODIES | UNREADABLE)[body]
    commands = [route.path(place.alice.number(route.of)) for route in ROUTES.values() if route.methods == "POST"]
    commands += [reverse(name) for name, methods in OPEN.values() if "POST" in methods and name != "enter"]
    process, broken = os.getpid(), []

    for path in commands if body in BODIES else commands[:1]:
        with undone():
            status = place.browser("alice", **HTMX).generic("POST", path, content, kind).status_code
        if status >= 500:
            broken.append((path, status))

    assert broken == []
    assert os.getpid() == process
    assert place.browser("alice").get("/healthz").status_code == 200


NEEDED = {"send_message": "text", "edit_message": "text", "rename_thread": "title", "share_thread": "username",
          "unshare_thread": "username", "answer_question": "option", "decide_call": "happened",
          "approve_call": "hash", "decide_plan": "decision"}  # fmt: skip


def test_s01_a_field_that_is_missing_is_named(place):
    before = record()

    for name, missing in NEEDED.items():
        route = next(each for each in ROUTES.values() if each.name == name)
        answer = place.browser("alice").post(route.path(place.alice.number(route.of)), headers=PROGRAM)
        assert (answer.status_code, answer.json()["field"]) == (400, missing), name

    assert changes(before) == {}


ODD = ["0", "-1", "99999999999999999999999999", "%00", "..%2f..%2fadmin", "x" * 3000, "%F0%9F%90%92", "' OR 1=1 --", "{{7*7}}"]


@pytest.mark.parametrize("odd", ODD)
def test_s01_no_address_breaks_the_server(place, odd):
    thread = place.alice.thread.chat_id
    read = ["/c/{}/", "/c/{}/events/?after={}", "/enter/{}/{}/", "/?assistant={}", "/search/?q={}", "/login/?next={}"]
    read += [f"/c/{thread}/?at={{}}", f"/c/{thread}/events/?after={{}}", f"/c/{thread}/older/?before={{}}", "/static/{}"]
    written = ("/turn/{}/stop/", "/message/{}/edit/", "/question/{}/", "/c/{}/send/", "/enter/{}/{}/")
    broken = []

    for who, shape in product(("alice", "anonymous"), (*read, *written)):
        browser = place.browser(who)
        status = (browser.get if shape in read else browser.post)(shape.replace("{}", odd)).status_code
        if status >= 500:
            broken.append((who, shape, status))

    assert broken == []
    assert place.browser("root").get(f"/admin/assistants/thread/{odd}/change/").status_code in (302, 404)


def admin_addresses(place) -> dict[str, str]:
    """Every admin page, with the apes' objects in the addresses."""
    own = {
        "assistant": place.ground.lead.pk,
        "llmprofile": place.ground.lead.profile_id,
        "tenant": place.ground.apes.pk,
        "documentroot": place.ground.apes.document_roots.get().pk,
        "thread": place.alice.thread.pk,
        "turn": place.alice.turn.pk,
        "user": place.ground.alice.pk,
        "workflow": place.ground.apes.workflows.get().pk,
    }
    found = {}
    for pattern in ADMIN:
        model = (pattern.split("/") + [""])[2]
        number = str(own.get(model, 1))
        path = pattern.replace("<path:object_id>", number).replace("<id>", number).replace("<int:number>", "1")
        path = path.replace("<path:content_type_id>", "1").replace("^(?P<app_label>assistants|auth|subchats)/$", "subchats/")
        found[pattern] = "/" + path.replace("(?P<url>.*)$", "nowhere/")
    return found


@pytest.mark.parametrize("who", ["anonymous", "alice", "rita"])
def test_s01_s09_nobody_who_is_no_staff_gets_into_the_admin(place, who):
    before, wrong = record(), []
    shared = {"admin/logout/", "admin/login/", "admin/jsi18n/"}

    for pattern, path in admin_addresses(place).items():
        for method in ("GET", "POST") if pattern not in shared else ():
            answer = place.browser(who).generic(method, path)
            led = answer.headers.get("Location", "")
            if who in STRANGERS:
                right = answer.status_code == 302 and led.startswith("/admin/login/?next=/admin/")
            else:
                right = answer.status_code in (403, 404)
            if not right or CANARY in answer.content.decode():
                wrong.append((method, path, answer.status_code, led))

    assert wrong == []
    assert changes(before) == {}


def test_s01_s09_another_tenants_admin_reaches_nothing_there(place):
    before, wrong = record(), []
    for pattern, path in admin_addresses(place).items():
        for method in ("GET", "POST"):
            if pattern == "admin/logout/":
                continue
            answer = place.browser("charlie").generic(method, path)
            body = answer.content.decode()
            names_alice = "alice" in body.lower() or "Papers" in body or place.alice.thread.chat_id in body
            foreign = "object_id" in pattern or "<id>" in pattern
            if answer.status_code >= 500 or names_alice or (foreign and answer.status_code not in (302, 403, 404, 405)):
                wrong.append((method, path, answer.status_code, names_alice))

    assert wrong == []
    assert changes(before) == {}


def test_s01_no_admin_page_breaks_for_the_superuser(place):
    wrong = []
    for pattern, path in admin_addresses(place).items():
        for method in ("GET", "POST"):
            if pattern != "admin/logout/":
                with undone():
                    status = place.browser("root").generic(method, path).status_code
                if status >= 500:
                    wrong.append((method, path, status))

    assert wrong == []
