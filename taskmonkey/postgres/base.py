"""PostgreSQL behind a pool that gets over a restart of the server at once."""

from time import monotonic
from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, but for how a connection from the pool is looked at before it is used.

    The pool's way is to sleep after each one that turns out to be cut, twice as long every time: after a restart of the
    server the first who asks would meet one after the other, and give up before the fifth. Here the first one that is cut
    has all the others looked at too, so it needs `CONN_HEALTH_CHECKS` off.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if not (pool := self.pool):
            return connection
        end = monotonic() + pool.timeout
        while not _answers(pool, connection):
            # The pool makes a new one in place of each that is cut.
            pool.putconn(connection)
            if monotonic() > end:
                raise OperationalError("the database cuts every connection")
            pool.check()
            connection = super().get_new_connection(conn_params)
        return connection


def _answers(pool: Any, connection: Any) -> bool:
    try:
        pool.check_connection(connection)
    except OperationalError:
        return False
    return True
