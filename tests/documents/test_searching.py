"""What a search finds, in which order, and for whom."""

import pytest
from django.db import connection

from assistants.documents.methods import bm25_hits
from assistants.documents.ranked import rarity_of
from assistants.documents.roots import roots_for
from assistants.documents.search_index import index_of
from assistants.documents.searching import search_passages
from assistants.documents.words import terms_of
from assistants.models import DocumentRoot, Membership

PARCELS = {f"parcel{number}": f"Something on parcel {number} of this week." for number in range(8)}


def search(root, query, **kwargs):
    return search_passages([root], query, limit=kwargs.pop("limit", 8))


def documents(found):
    return [hit.document for hit in found.hits]


def fill(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def test_a_hit_names_its_document_and_lines(root, folder):
    fill(folder, returns="# Returns\n\nCustomers have 30 days.\nSale items: 14 days.\n")

    hit = search(root, "customers").hits[0]

    assert (hit.document, hit.place, hit.title) == ("handbook/returns.md", "lines 1-4", "Returns")
    assert hit.passage == "# Returns\n\nCustomers have 30 days.\nSale items: 14 days."
    assert 0 < hit.score <= 1


def test_a_passage_with_all_words_comes_before_one_that_repeats_a_single_word(root, folder):
    fill(
        folder,
        many="Zippers, zippers and zippers. Zippers everywhere, more zippers.",
        all="The zippers come from a supplier in Aalborg.",
        other="Nothing of the kind.",
    )

    assert documents(search(root, "Which supplier makes the zippers?")) == ["handbook/all.md", "handbook/many.md"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Rückgabe", "Die Rueckgabe ist frei."),
        ("rueckgabe", "Die Rückgabe ist frei."),
        ("GRÖSSE", "In jeder Größe."),
        ("Frist", "Die Rücksendefrist beträgt 30 Tage."),
        ("Rücksendefristen", "Es gilt eine Frist."),
        ("Reißverschlüsse", "Der Reissverschluss klemmt."),
        ("cafe", "Im Café."),
        ("returned", "All returns are free."),
        ("B12345", "Artikel b12345 kommt zurück."),
        ("NL-ZIP-05", "Order NL-ZIP-05 today."),
        ("1.250,50", "It was 1.250,50 in total."),
        ("naïve", "A NAIVE approach."),
        ("日本", "東京 日本 京都"),
    ],
)
def test_words_are_found_in_either_spelling_and_any_form(root, folder, query, text):
    fill(folder, it=text, other="Something else entirely.")

    assert documents(search(root, query)) == ["handbook/it.md"]


def test_the_name_and_heading_of_a_document_count(root, folder):
    (folder / "suppliers").mkdir()
    (folder / "suppliers" / "fjordzip.md").write_text("# Terms\n\nPayment within 30 days.\n")
    fill(folder, other="Payment within 14 days.")

    assert documents(search(root, "FjordZip payment"))[0] == "handbook/suppliers/fjordzip.md"


@pytest.mark.parametrize(
    "query",
    ['"', "'", '"a', "a AND", "NEAR(", "*", "-a", "a:b", "root:r1", "^a", "(", "{title} : a", "a\0b", "%", "_", "OR 1=1",
     "' OR ''='", "'; DROP TABLE assistants_passage; --", "pg_sleep(10)", "\ud800", "\\", "+", "😀", "a" * 4000, "NOT returns",
     "parts:x OR root:r2"],
)  # fmt: skip
def test_s39_whatever_is_typed_is_plain_text(root, folder, query):
    fill(folder, a="a returns")

    found = search(root, query)

    assert found.total <= 1


def test_three_passages_of_a_document_come_before_the_rest_of_its_passages(root, folder):
    fill(
        folder,
        long="".join(f"# Returns {number}\n\n{'Returns are returns. ' * 40}\n\n" for number in range(6)),
        short="Something on returns.",
    )

    assert documents(search(root, "returns")) == [*["handbook/long.md"] * 3, "handbook/short.md", *["handbook/long.md"] * 3]


def test_words_that_stand_together_come_before_the_same_words_apart(root, folder):
    fill(
        folder,
        apart=f"The zipper. {'Something else is told here. ' * 8}And a warranty.",
        near=f"{'Something else is told here. ' * 8}The zipper has a warranty.",
        other="Nothing of the kind.",
        another="Nor here.",
    )

    assert documents(search(root, "zipper warranty")) == ["handbook/near.md", "handbook/apart.md"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("shipped", "The parcel is lost while shipping, and the sender pays."),
        ("policy", "These are the policies of the house."),
        ("computation", "It is computed by the server, and stored."),
        ("Bestellung", "Wir haben die Sachen für Sie bestellt; die Bestellungen sind unterwegs."),
        ("Lieferant", "Der Lieferantenvertrag ist unterschrieben."),
    ],
)
def test_forms_of_a_word_are_found_in_either_language(root, folder, query, text):
    fill(folder, it=text, other="Something else entirely.")

    assert documents(search(root, query)) == ["handbook/it.md"]


def test_a_long_document_keeps_no_other_source_out(root, folder):
    """A-37: a result shows four passages of a source; a fifth comes behind those of others, even if it is the better one."""
    fill(
        folder,
        long="".join(f"# Returns {number}\n\n{'Returns are returns. ' * 60}\n\n" for number in range(6)),
        short="Something on returns.",
    )

    sources = [hit.source for hit in bm25_hits([root], "returns", 6)]

    assert sources == [*["handbook/long.md"] * 4, "handbook/short.md", "handbook/long.md"]


def test_a_rare_word_says_more_than_a_common_one(root, folder):
    fill(folder, rare="The zipper is here.", common="The parcel is here.", other="Nothing else.", **PARCELS)

    assert documents(search(root, "parcel or zipper"))[0] == "handbook/rare.md"


def test_what_says_a_word_often_comes_before_what_names_it_in_a_heading(root, folder):
    filler = "Something else is told in this place. " * 8
    fill(
        folder,
        often=f"# One\n\nThe zipper. {filler}A zipper again, another zipper, and the last zipper.\n",
        heading=f"# Two\n\n## Zipper\n\n{filler * 3}\n",
        **PARCELS,
    )

    assert documents(search(root, "zipper")) == ["handbook/often.md", "handbook/heading.md"]


def test_postgres_tells_what_each_word_says_since_its_own_rank_is_rough(root, folder):
    fill(folder, rare="The zipper is here.", **PARCELS)
    search(root, "anything")

    found = index_of().find([root.pk], terms_of("parcel zipper nowhere"), limit=2)

    rough = connection.vendor == "postgresql"
    assert found.rarity == ((rarity_of(8, 9), rarity_of(1, 9), rarity_of(0, 9)) if rough else ())
    assert (found.total, len(found.ranks)) == (9, 2)


def test_total_counts_all_and_limit_bounds_what_is_shown(root, folder):
    for number in range(12):
        fill(folder, **{f"d{number}": "A word."})

    found = search(root, "word", limit=5)

    assert (found.total, len(found.hits)) == (12, 5)


def test_nothing_is_found_where_nothing_is(root, folder):
    assert search(root, "returns") == search_passages([], "returns", limit=8)


def test_s10_only_the_given_roots_are_searched(ground, root, folder, tmp_path):
    fill(folder, mine="CANARY of the apes")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "x.md").write_text("CANARY of the bears")
    theirs = DocumentRoot.objects.create(tenant=ground.bears, name="handbook", path=str(tmp_path / "theirs"))

    assert search(root, "canary").total == search(theirs, "canary").total == 1
    assert search(root, "bears").total == search(theirs, "apes").total == 0


def test_s06_roots_are_those_of_the_conversations_own_people(ground, root):
    public = DocumentRoot.objects.create(tenant=ground.apes, name="help", path="/x", public=True)
    DocumentRoot.objects.create(tenant=ground.bears, name="bears", path="/y", public=True)
    thread = ground.open("Hi")

    assert roots_for(thread) == [root, public]
    Membership.objects.filter(user=ground.alice).delete()
    assert roots_for(thread) == [public]


def test_a_visitor_and_a_switched_off_user_see_public_roots_only(ground, root):
    public = DocumentRoot.objects.create(tenant=ground.apes, name="help", path="/x", public=True)
    thread = ground.open("Hi")
    ground.alice.is_active = False
    ground.alice.save()

    assert roots_for(thread) == [public]
    thread.owner = None
    assert roots_for(thread) == [public]
