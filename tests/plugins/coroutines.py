"""Lets a test be a coroutine: its synchronous parts run in the main thread, and so inside the test's transaction."""

import inspect

import pytest
from asgiref.sync import async_to_sync


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a coroutine test by asgiref; a plugin's loop in another thread would wait for the test's own transaction."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    async_to_sync(pyfuncitem.obj)(**arguments)
    return True
