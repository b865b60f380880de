"""S17: passwords are not guessed by trying, and nobody learns which names exist."""

from datetime import timedelta

import pytest
from django.test import Client

from assistants import clock, guesses
from tests.kit.browsers import PAGE, PROGRAM


def guess(name: str, password: str = "wrong", *, browser: Client | None = None, **extra: str):
    return (browser or Client(headers=PAGE)).post("/login/", {"username": name, "password": password}, **extra)


def text_of(answer) -> str:
    return answer.content.decode().replace("nobody", "NAME").replace("alice", "NAME")


def test_s17_after_ten_wrong_passwords_there_is_a_wait(ground):
    statuses = [guess("alice").status_code for _ in range(12)]

    refused = guess("alice", "secret")

    assert statuses == [200] * 10 + [429] * 2
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= guesses.SECONDS
    assert "Wait 10 minutes" in refused.content.decode()
    assert "sessionid" not in refused.cookies


def test_s17_names_that_nobody_has_get_the_same_answers(ground):
    known, unknown = ([guess(name) for _ in range(11)] for name in ("alice", "nobody"))

    assert [each.status_code for each in known] == [each.status_code for each in unknown]
    assert "fit together" in text_of(known[0]) and "fit together" in text_of(unknown[0])
    assert "Too many" in text_of(known[-1])
    assert len(known[0].content) - len("alice") == len(unknown[0].content) - len("nobody")
    assert text_of(known[-1]).split("<h1>")[1] == text_of(unknown[-1]).split("<h1>")[1]


def test_s17_somebody_who_is_switched_off_looks_like_nobody(ground):
    ground.bob.is_active = False
    ground.bob.save()

    assert text_of(guess("bob", "secret")).replace("bob", "NAME").count("fit together") == 1


def test_s17_the_password_is_looked_at_for_unknown_names_too(ground, monkeypatch):
    from django.contrib.auth.hashers import MD5PasswordHasher

    hashed = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda self, *a, **k: hashed.append(1) or encode(self, *a, **k))

    counts = []
    for name in ("alice", "nobody"):
        hashed.clear()
        guess(name)
        counts.append(len(hashed))

    assert counts == [1, 1]


def test_s17_another_spelling_of_the_name_counts_as_the_same(ground):
    for name in ("alice", "ALICE", " alice ", "ａlice", "Alice") * 2:
        assert guess(name).status_code == 200

    assert guess("alice").status_code == 429


def test_s17_a_forged_address_is_not_believed(ground):
    forged = [{"X-Forwarded-For": f"10.0.0.{number}", "Forwarded": f"for=10.0.0.{number}", "X-Real-IP": f"10.0.0.{number}"}
              for number in range(11)]  # fmt: skip

    statuses = [guess("alice", browser=Client(headers={**PAGE, **each})).status_code for each in forged]

    assert statuses[-1] == 429


def test_s17_a_flood_of_other_names_does_not_make_the_counter_forget(ground):
    for _ in range(10):
        guess("alice")

    for number in range(400):
        guesses.check_guess(f"name{number}", "127.0.0.1")

    assert guess("alice").status_code == 429


def test_s17_others_and_other_addresses_are_not_held_up(ground):
    for _ in range(11):
        guess("alice")

    assert guess("bob", "secret").status_code == 302
    assert guess("alice", "secret", REMOTE_ADDR="10.1.2.3").status_code == 302


def test_s17_the_right_password_makes_the_wrong_ones_forgotten(ground):
    for _ in range(9):
        guess("alice")
    assert guess("alice", "secret").status_code == 302

    assert [guess("alice").status_code for _ in range(10)] == [200] * 10


def test_s17_the_wait_ends(ground, monkeypatch):
    for _ in range(11):
        guess("alice")
    later = clock.now() + timedelta(seconds=guesses.SECONDS - 30)
    monkeypatch.setattr(clock, "now", lambda: later)

    soon = guess("alice")

    assert "Wait 1 minute," in soon.content.decode()
    assert int(soon.headers["Retry-After"]) <= 30


def test_s17_a_program_gets_the_refusal_as_data(ground):
    for _ in range(10):
        guess("alice")

    answer = guess("alice", browser=Client(headers=PROGRAM))

    assert (answer.status_code, answer.json()["code"]) == (429, "TOO_MANY_GUESSES")


@pytest.mark.parametrize("method", ["put", "post"])
def test_s17_every_way_to_send_a_password_is_counted(ground, method):
    for _ in range(10):
        getattr(Client(), method)("/login/", {"username": "", "password": "x"})

    assert getattr(Client(), method)("/login/", {"username": "", "password": "x"}).status_code == 429


def test_s17_the_admins_door_is_the_same_door(ground):
    answer = Client().post("/admin/login/", {"username": "alice", "password": "secret"})

    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/admin/login/")
