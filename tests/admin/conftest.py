"""People who enter the admin: Alice sets up the apes, Charlie the bears, and Root the whole site."""

import pytest
from django.test import Client

from assistants.models import User


def _enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def alice(ground) -> Client:
    ground.alice.is_staff = True
    ground.alice.save()
    return _enter(ground.alice)


@pytest.fixture
def charlie(ground) -> Client:
    ground.charlie.is_staff = True
    ground.charlie.save()
    return _enter(ground.charlie)


@pytest.fixture
def bob(ground) -> Client:
    return _enter(ground.bob)


@pytest.fixture
def root(db) -> Client:
    return _enter(User.objects.create_superuser("root", password="secret"))
