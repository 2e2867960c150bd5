"""Callers of every kind, on a database of the test's own and on a running product."""

import pytest

from tests.e2e.agui_server.conftest import product
from tests.support.http.openapi_responses import _only_described_answers
from tests.support.processes import manage
from tests.support.security.callers import print_callers, read_callers
from tests.support.security.fixtures import callers, things

__all__ = ["_only_described_answers", "callers", "product", "things"]


@pytest.fixture(scope="session")
def demo_callers(product):
    command = f"from tests.support.security.callers import *; {print_callers.__name__}()"
    return read_callers(manage(product.environment, "shell", "-c", command))
