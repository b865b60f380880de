"""S09, a cousin: the admin's lists can not be made to guess what they don't show."""

import pytest

from assistants.models import User
from tests.kit.browsers import signed_in
from tests.probes.town import CANARY

GUESSES = {
    "thread": [
        *("agent__prompt__contains=x", "visitor_key__startswith=a", "messages__parts__icontains=x", "leaf__parts__icontains=x"),
        *("client_key__startswith=a", "owner__password__startswith=m", "title__startswith=H", "shares__user__username=rita"),
    ],
    "turn": [
        *("note__contains=x", "holder__startswith=e", "user_message__parts__icontains=x", "thread__title__contains=x"),
        *("calls__result__contains=x", "thread__owner__password__startswith=m"),
    ],
    "user": ["password__startswith=m", "email__contains=x", "memberships__tenant__name=Bears", "threads__title__contains=x"],
    "llmprofile": ["encrypted_key__startswith=g", "key_variable__startswith=A", "assistants__instructions__contains=x"],
    "assistant": ["instructions__contains=x", "profile__encrypted_key__startswith=g", "versions__definition__contains=x"],
    "auditentry": ["detail__contains=x", "user__password__startswith=m"],
    "tenant": ["threads__title__contains=x", "default_profile__encrypted_key__startswith=g"],
    "documentroot": ["documents__text__contains=x", "path__startswith=/"],
    "domain": ["supervisor__instructions__contains=x"],
}
OFFERED = {
    **{"thread": "assistant__isnull=0", "turn": "state__exact=thinking", "assistant": "public__exact=0"},
    **{"user": "is_active__exact=1", "llmprofile": "provider__exact=scripted", "auditentry": "action__exact=share"},
}
ODD = [
    *("o=99", "o=-99.x", "p=99999999", "p=-1", "all=x", "q=%00", "_popup=1", "e=1", "_to_field=password", "is_active__exact='"),
    *("tenant__id__exact=x", "tenant__id__exact=99999999999999999999"),
]


@pytest.fixture
def admin(ground):
    User.objects.filter(pk=ground.alice.pk).update(is_staff=True)
    browser = signed_in(ground.alice)
    browser.raise_request_exception = False
    return browser


@pytest.mark.parametrize("model", GUESSES)
def test_s09_a_list_is_filtered_only_by_what_it_offers(ground, admin, model):
    statuses = {guess: admin.get(f"/admin/assistants/{model}/?{guess}").status_code for guess in GUESSES[model]}

    assert set(statuses.values()) == {400}, statuses


def test_s09_what_a_list_offers_still_works(ground, admin):
    ground.open()

    for model, query in OFFERED.items():
        assert admin.get(f"/admin/assistants/{model}/?{query}").status_code == 200, model


def test_s09_a_search_in_the_admin_does_not_look_into_what_was_said(ground, admin):
    thread = ground.open(f"Hello there\n\n{CANARY}")

    for model in ("thread", "turn"):
        page = admin.get(f"/admin/assistants/{model}/", {"q": CANARY}).content.decode()
        assert thread.chat_id not in page


@pytest.mark.parametrize("query", ODD)
def test_s09_no_query_breaks_a_list(ground, admin, query):
    for model in ("assistant", "user"):
        assert admin.get(f"/admin/assistants/{model}/?{query}").status_code < 500
