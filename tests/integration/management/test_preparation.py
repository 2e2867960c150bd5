"""The preparation of a start, and the new process after it."""

import os

import pytest

from inbox.management import preparation


@pytest.fixture
def replaced(monkeypatch):
    """The environments of the processes that would have replaced this one."""
    environments = []
    monkeypatch.setattr(preparation, "replace_process", environments.append)
    return environments


@pytest.mark.django_db
def test_a_start_with_nothing_to_prepare_goes_on(replaced, monkeypatch):
    monkeypatch.setattr(preparation, "collect_static_files", lambda: False)

    preparation.prepare(migrates=True, collects=True)

    assert replaced == []


def test_a_process_that_has_prepared_something_is_replaced_once(replaced, monkeypatch):
    monkeypatch.setattr(preparation, "collect_static_files", lambda: True)

    preparation.prepare(migrates=False, collects=True)
    (environment,) = replaced
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    preparation.prepare(migrates=False, collects=True)

    assert len(replaced) == 1
    assert not environment.keys() & os.environ.keys()
