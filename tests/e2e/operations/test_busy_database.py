"""All connections in use is not the same as a database that is away."""

import contextlib
import threading

import dj_database_url
import psycopg
import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler
from django.test import RequestFactory

from inbox.api.base.database_down import UnavailableMiddleware
from inbox.platform.db_executor import DatabaseBusy
from inbox.platform.pooled_database import base
from tests.support.postgres import PostgresServer
from tests.support.product_client import wait_for

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def server():
    settings = {"max_connections": "8", "superuser_reserved_connections": "1"}
    with PostgresServer(settings=settings) as server:
        yield server


@pytest.fixture
def connect(server, django_db_blocker):
    """Take one connection of a pool that has two of them and waits briefly."""
    database = dj_database_url.parse(server.url, engine="inbox.platform.pooled_database")
    database["OPTIONS"] = {"pool": {"min_size": 1, "max_size": 2, "timeout": 0.5}}
    handler = ConnectionHandler({"default": database, "spare": database})
    connections = []

    def take():
        wrapper = handler.create_connection("spare")
        wrapper.inc_thread_sharing()
        connections.append(wrapper)
        wrapper.ensure_connection()
        return wrapper

    with django_db_blocker.unblock():  # the database is none of pytest's
        yield take
        for wrapper in connections:
            wrapper.close()
        connections[0].close_pool()
    assert wait_for(lambda: not base._breaker.is_open, seconds=30)


def test_waiting_in_vain_for_a_connection_in_use_refuses_only_who_waited(connect):
    first, _ = connect(), connect()

    with pytest.raises(DatabaseBusy):
        connect()

    assert not base._breaker.is_open
    first.close()
    assert connect().is_usable()


def test_many_that_wait_at_once_leave_the_breaker_closed(connect):
    _, _ = connect(), connect()
    errors = []

    def wait_in_vain():
        with pytest.raises(DatabaseBusy):
            connect()
        errors.append(base._breaker.is_open)

    threads = [threading.Thread(target=wait_in_vain) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == [False] * 10


def test_server_without_any_connection_left_is_busy_and_not_away(connect, server):
    held = fill(server)
    try:
        with pytest.raises(DatabaseBusy):
            connect()
    finally:
        for connection in held:
            connection.close()


def test_server_that_has_stopped_is_away_and_refuses_at_once(connect, server):
    held = [connect(), connect()]
    server.shut_down("immediate")
    try:
        with pytest.raises(OperationalError) as first:
            connect()
        with pytest.raises(OperationalError, match="The database is down"):
            connect()
        assert not isinstance(first.value, DatabaseBusy)
        assert base._breaker.is_open
    finally:
        server.start()
        for connection in held:
            connection.close()
    assert wait_for(lambda: not base._breaker.is_open, seconds=30)


def test_busy_database_is_a_503_that_says_so_and_when_to_come_back():
    def view(_):
        raise DatabaseBusy("all connections to the database are in use")

    answer = UnavailableMiddleware(view)(RequestFactory().get("/api/me"))

    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert b"busy" in answer.content


def fill(server):
    """Take all connections that the server has; return them."""
    held = []
    with contextlib.suppress(psycopg.OperationalError):
        while True:
            held.append(psycopg.connect(server.url))
    return held
