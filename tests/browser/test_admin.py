"""The admin in a real browser: under the site's security policy, in both themes, on a desk and on a telephone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = (
    "",
    "assistants/assistant/",
    "assistants/assistant/add/",
    "assistants/assistant/{lead}/change/",
    "assistants/assistant/{lead}/versions/",
    "assistants/assistant/{research}/research/",
    "subchats/datasourcegrant/add/?tenant=1",
    "subchats/localdiscovery/add/?tenant=1",
    "assistants/llmprofile/add/",
    "assistants/tenant/1/change/",
    "assistants/user/",
    "assistants/documentroot/add/",
    "assistants/thread/",
    "assistants/thread/{thread}/change/",
    "assistants/turn/{thread}/change/",
    "assistants/auditentry/",
)


def number_of(visit, address: str, words: str) -> str:
    visit.page.goto(f"{visit.site.url}{address}")
    link = visit.page.locator("#result_list tbody a", has_text=words).first.get_attribute("href")
    return re.search(r"/(\d+)/change/", link)[1]


def walk(opened):
    """Opens every page in turn."""
    lead = number_of(opened, "/admin/assistants/assistant/", "Operations lead")
    thread = number_of(opened, "/admin/assistants/thread/", "chat")
    research = number_of(opened, "/admin/assistants/assistant/", "Research")
    for page in PAGES:
        opened.page.goto(f"{opened.site.url}/admin/{page.format(lead=lead, thread=thread, research=research)}")
        yield page


@pytest.mark.parametrize("width", [375, 1440])
def test_s24_no_admin_page_breaks_the_policy_or_overflows(visit, width) -> None:
    """The fixture fails the test for every refusal of the policy and every error of a script."""
    opened = visit("alice", width=width)

    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

    assert {page: over for page in walk(opened) if (over := opened.page.evaluate(wide)) > 0} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_admin_page(visit, scheme) -> None:
    # The tool itself writes styles into the page that it looks at.
    opened = visit("alice", color_scheme=scheme, bypass_csp=True)

    found = {page: [each["id"] for each in Axe().run(opened.page).response["violations"]] for page in walk(opened)}

    assert {page: violations for page, violations in found.items() if violations} == {}


def test_an_assistant_is_changed_looked_through_and_restored(visit) -> None:
    opened = visit("alice")
    page = opened.page
    reader = number_of(opened, "/admin/assistants/assistant/", "Complaints reader")
    page.goto(f"{opened.site.url}/admin/assistants/assistant/{reader}/change/")

    page.get_by_label("Instructions").fill("Read twice.")
    page.locator("#id_tools").get_by_text("current_time", exact=True).click()
    page.get_by_role("button", name="Save and continue editing").click()
    page.get_by_role("link", name="Versions").click()
    page.locator("ins", has_text="Read twice.").wait_for()
    page.get_by_role("button", name="Restore version 1").click()

    page.get_by_text("Restored. It is version 3 now.").wait_for()
    page.goto(f"{opened.site.url}/admin/assistants/assistant/{reader}/change/")
    assert page.get_by_label("Instructions").input_value() != "Read twice."


def test_a_connection_is_tried_from_the_profiles_page(visit) -> None:
    opened = visit("alice")
    profile = number_of(opened, "/admin/assistants/llmprofile/", "lead")
    opened.page.goto(f"{opened.site.url}/admin/assistants/llmprofile/{profile}/change/")

    opened.page.get_by_role("button", name="Save and test the connection").click()

    opened.page.get_by_text("The connection works").wait_for()
