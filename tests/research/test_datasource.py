"""Other sources than documents: default deny, tags and scopes from the admin alone, earlier conversations (A-36, S10)."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from assistants.documents.methods import method_names, retrieve
from assistants.models import Membership, Thread, ThreadShare, ToolCall, User
from subchats.models import DatasourceGrant
from subchats.research import datasources
from subchats.research.datasources import Reach, Record, look_up, register_datasource, search_datasources
from tests.kit.turns import run_all
from tests.kit.world import World
from tests.research.house import House, build, candidate, emits, handoff, run_of, sends

CANARY = "The spare key hangs behind the boiler."

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    made = build(ground, tmp_path)
    made.scout.tools = ["retrieve", "search_datasource", *made.scout.tools]
    made.scout.save()
    return made


def grant(house: House, *, tags: Sequence[str] = ("own", "shared"), scopes: Sequence[str] = ()) -> DatasourceGrant:
    row, _ = DatasourceGrant.objects.update_or_create(
        assistant=house.scout,
        source="conversations",
        defaults={"tenant": house.ground.apes, "tags": list(tags), "scopes": list(scopes)},
    )
    return row


def told(ground: World, text: str = CANARY, *, owner: User | None = None, question: str = "Where is the spare key?") -> Thread:
    """An earlier conversation in which that was said."""
    ground.script([text])
    thread = ground.open(question, owner=owner)
    run_all()
    return thread


def said_in(thread: Thread) -> int:
    """The number of the message in which it was said."""
    return thread.messages.get(role="assistant").sequence


def place_of(thread: Thread) -> str:
    return f"conversations:{thread.chat_id}@{said_in(thread)}"


def asking(house: House, owner: User | None = None) -> Thread:
    return house.ground.open("Where is the spare key?", owner=owner, assistant=house.scout)


def passages(thread: Thread, query: str = "spare key boiler", **options: Any) -> list[str]:
    return [hit.excerpt for hit in search_datasources(thread, query, **options)]


class Careless:
    """A source that gives everything it has, whatever is granted."""

    name = "wiki"
    tags = {"open": "what everybody may see"}
    failing = False

    def scopes(self, tenant: object) -> list[str]:
        return ["sales", "legal"]

    def search(self, reach: Reach, query: str, limit: int) -> Sequence[Record]:
        if self.failing:
            raise RuntimeError("secret query")
        kinds = (("1", "open", "sales"), ("2", "secret", "sales"), ("3", "open", "legal"), ("4#a", "open", "sales"))
        return [
            Record(key, f"Page {key}", "page", f"text of {key}", 1.0, frozenset({tag}), frozenset({scope}))
            for key, tag, scope in kinds
        ]

    def address(self, key: str) -> str:
        return ""

    def text_of(self, reach: Reach, key: str) -> Record | None:
        return next((each for each in self.search(reach, "", 9) if each.key == key), None)


@pytest.fixture
def wiki(house: House) -> Iterator[Careless]:
    known = dict(datasources._sources)
    source = Careless()
    register_datasource(source)
    yield source
    datasources._sources.clear()
    datasources._sources.update(known)


def test_a36_without_a_grant_nothing_is_found_and_a_grant_without_tags_is_none(house: House) -> None:
    told(house.ground)
    thread = asking(house)

    assert passages(thread) == []
    grant(house, tags=())
    assert passages(thread) == []
    grant(house)
    assert passages(thread)[0] == CANARY


def test_a36_s10_only_conversations_that_the_asker_may_read_are_searched(house: House) -> None:
    mine = told(house.ground)
    grant(house)

    assert passages(asking(house, house.ground.bob)) == []
    ThreadShare.objects.create(thread=mine, user=house.ground.bob)
    assert CANARY in passages(asking(house, house.ground.bob))
    Membership.objects.filter(user=house.ground.alice).delete()
    assert passages(asking(house)) == []


def test_a36_tags_tell_own_conversations_from_shared_ones(house: House) -> None:
    shared = told(house.ground, "The spare key is with Bob.", owner=house.ground.bob)
    ThreadShare.objects.create(thread=shared, user=house.ground.alice)
    told(house.ground)
    thread = asking(house)

    grant(house, tags=["own"])
    own = passages(thread)
    grant(house, tags=["shared"])
    others = passages(thread)

    assert CANARY in own and not any("Bob" in each for each in own)
    assert "The spare key is with Bob." in others and CANARY not in others


def test_a36_a_scope_only_narrows_and_one_that_is_not_granted_finds_nothing(house: House) -> None:
    told(house.ground)
    thread = asking(house)

    grant(house, scopes=["lead"])
    assert passages(thread, scope="lead") and passages(thread)
    assert passages(thread, scope="scout") == []
    grant(house, scopes=["scout"])
    assert passages(thread) == [] and passages(thread, scope="lead") == []
    grant(house)
    assert passages(thread, scope="lead") and passages(thread, scope="scout") == []


def test_a36_what_a_careless_source_gives_is_held_against_the_grant(house: House, wiki: Careless) -> None:
    DatasourceGrant.objects.create(
        tenant=house.ground.apes, assistant=house.scout, source="wiki", tags=["open"], scopes=["sales"]
    )
    thread = asking(house)

    found = [hit.source for hit in search_datasources(thread, "anything")]

    assert found == ["wiki:1"]
    assert look_up(thread, "wiki:1") is not None
    assert [look_up(thread, f"wiki:{key}") for key in ("2", "3", "4#a", "9")] == [None] * 4


@pytest.mark.parametrize("name", ["", "a#b", "a:b", "a/b"])
def test_a36_a_source_with_a_sign_in_its_name_is_not_registered(name: str) -> None:
    source = Careless()
    source.name = name

    with pytest.raises(ValueError):
        register_datasource(source)


@pytest.mark.parametrize("extra", [{"allowedTags": ["own"]}, {"allowedScopes": ["lead"]}, {"source": "conversations"}])
def test_a36_what_a_model_adds_opens_nothing(house: House, extra: dict[str, Any]) -> None:
    told(house.ground)
    order = {"calls": [{"name": "search_datasource", "arguments": {"query": "spare key", **extra}}]}
    thread = house.ask([order, sends(), emits()], [handoff()])

    call = ToolCall.objects.get(turn__thread=thread, name="search_datasource")
    assert call.outcome == "refused" and CANARY not in call.result


def test_a36_the_tool_has_exactly_three_arguments_and_is_offered_only_where_something_is_granted(house: House) -> None:
    from assistants.llm import scripted
    from assistants.tools.registry import find_tool

    order = {"calls": [{"name": "search_datasource", "arguments": {"query": "spare key"}}]}
    schema = find_tool("search_datasource").arguments.model_json_schema()  # type: ignore[union-attr]
    told(house.ground)
    house.ask([order, sends(), emits()], [handoff()])
    hidden = scripted.requests("apes-scout")[-1].conversation().tools
    grant(house)
    thread = house.ask([order, sends(), emits()], [handoff()])
    shown = scripted.requests("apes-scout")[-1].conversation().tools

    assert set(schema["properties"]) == {"query", "topK", "scope"} and schema["required"] == ["query"]
    assert schema["properties"]["topK"]["default"] == 20
    assert "search_datasource" not in hidden and "search_datasource" in shown
    denied, found = ToolCall.objects.filter(name="search_datasource").order_by("turn_id")
    assert json.loads(denied.result) == {"results": []}
    assert json.loads(found.result)["results"][0]["passage"] == CANARY
    assert run_of(thread).finished


def test_a37_a_granted_source_is_merged_with_the_other_methods(house: House) -> None:
    told(house.ground, "A refund is also paid for gift cards, said the boss.", question="Refund of gift cards?")
    grant(house)

    found = retrieve(asking(house), "refund gift cards")

    methods = {each.source.partition(":")[0]: each.methods for each in found.results}
    assert "datasource" in method_names()
    assert methods["conversations"] == ("datasource",) and methods["handbook/returns/refunds.md"] == ("bm25",)
    assert "datasource-off" not in {each.code for each in found.diagnostics}


def test_a37_a_source_that_is_off_is_told_and_one_that_fails_fails_alone(house: House, wiki: Careless) -> None:
    thread = asking(house)
    off = retrieve(thread, "refund")
    DatasourceGrant.objects.create(tenant=house.ground.apes, assistant=house.scout, source="wiki", tags=["open"])
    wiki.failing = True
    failed = retrieve(thread, "refund")

    assert [(each.code, each.severity) for each in off.diagnostics if each.source == "datasource"] == [
        ("datasource-off", "info")
    ]
    broken = [each for each in failed.diagnostics if each.source == "datasource"]
    assert [each.code for each in broken] == ["retrieval-method-failed"] and "secret" not in str(broken)
    assert failed.results and off.results


def test_a36_the_conversation_that_asks_and_sub_chats_are_not_found(house: House) -> None:
    grant(house)
    house.ask([sends(), emits()], [handoff()])
    thread = asking(house)

    found = [hit.source for hit in search_datasources(thread, "refund working days spare key")]

    assert not any(thread.chat_id in each or "sub_" in each for each in found)


def test_a36_rare_words_count_more_and_an_answer_more_than_a_question(house: House) -> None:
    for number in range(3):
        told(house.ground, f"A key opens door {number}.", question="Which key?")
    told(house.ground)
    grant(house)

    found = passages(asking(house), "spare key boiler")

    assert found[0] == CANARY
    assert found.index(CANARY) < found.index("Where is the spare key?")


def test_a36_an_ad_hoc_agent_and_a_visitor_reach_nothing(house: House) -> None:
    told(house.ground)
    grant(house)
    agent = asking(house)
    agent.agent = {"name": "Ad hoc", "prompt": "", "tools": ["search_datasource"]}
    visitor = asking(house)
    visitor.owner = None

    assert passages(agent) == [] and passages(visitor) == []


# --- as evidence
def cites(source: str, excerpt: str = CANARY) -> dict[str, Any]:
    entry = {"number": 1, "source": source, "method": "datasource", "content": excerpt}
    return emits(excerpt=excerpt, mapping=[entry])


def test_a36_a11_a_result_may_rest_on_what_was_said_word_for_word(house: House, client: Client) -> None:
    earlier = told(house.ground)
    grant(house)
    source = place_of(earlier)

    thread = house.ask([sends(), cites(source, "The spare key hangs behind the roof."), cites(source)], [handoff()])

    evidence = run_of(thread).results.get().evidence.get()
    refused = ToolCall.objects.filter(turn__thread=thread, name="emit_autorag_results").order_by("round").first()
    assert refused is not None and refused.code == "EVIDENCE_NOT_VERIFIED"
    assert (evidence.source, evidence.excerpt, evidence.document) == (source, CANARY, None)
    client.force_login(house.ground.alice)
    answer = client.get(reverse("evidence", args=[thread.chat_id, evidence.pk]))
    assert answer.status_code == 302 and answer["Location"].startswith(f"/c/{earlier.chat_id}/?at={said_in(earlier)}")
    assert CANARY in client.get(reverse("thread", args=[thread.chat_id])).content.decode()
    earlier.delete()
    gone = client.get(reverse("evidence", args=[thread.chat_id, evidence.pk]))
    assert gone.status_code == 200 and "not there any more" in gone.content.decode()


def test_a36_a_citation_of_what_is_not_granted_or_not_the_askers_is_no_evidence(house: House) -> None:
    mine, bobs = told(house.ground), told(house.ground, owner=house.ground.bob)
    house.ask([sends(), cites(place_of(mine)), emits()], [handoff()])
    grant(house)
    house.ask([sends(), cites(place_of(bobs)), emits()], [handoff()])

    codes = ToolCall.objects.filter(name="emit_autorag_results", outcome="refused").values_list("code", flat=True)
    assert list(codes) == ["EVIDENCE_NOT_VERIFIED"] * 2


def test_a09_an_explorer_may_hand_over_a_seed_from_there_and_it_is_looked_up_too(house: House) -> None:
    earlier = told(house.ground)
    grant(house)
    said = {"source": place_of(earlier), "method": "datasource", "locator": f"message {said_in(earlier)}"}
    true, false = candidate(**said, evidence=CANARY), candidate(**said, evidence="The spare key hangs nowhere at all.")

    thread = house.ask([sends(), cites(place_of(earlier))], [handoff(true, false)])

    assert run_of(thread).finished and run_of(thread).evidence.get().excerpt == CANARY
    assert len(run_of(thread).tasks.get().faults) == 1
