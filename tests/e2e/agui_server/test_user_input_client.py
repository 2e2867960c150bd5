"""The client of docs/examples, against a running product."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "docs" / "examples" / "user_input_client.py"


@pytest.fixture(scope="module")
def client():
    spec = spec_from_file_location("user_input_client", PATH)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_client_answers_what_the_agent_asks(client, product, key):
    questions = []

    def ask(interrupt):
        questions.append(interrupt["message"])
        return True

    url = f"{product.url}/agui/rehearsal/"
    output = client.converse(url, key, "rehearse:confirmation", ask)

    assert questions == ["Archive 12 closed threads?"]
    assert "I am about to archive 12 closed threads." in output
    assert "true" in output.casefold()


def test_client_cancels_where_it_has_no_answer(client, product, key):
    url = f"{product.url}/agui/rehearsal/"

    output = client.converse(url, key, "rehearse:confirmation", lambda _: None)

    assert "so I leave it" in output


def test_terminal_reads_each_field_of_an_object(client, monkeypatch):
    typed = iter(["Ana", "3", ""])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    properties = {"name": {"type": "string"}, "docks": {"type": "integer"}, "note": {}}
    schema = {"type": "object", "properties": properties}

    answer = client.ask_in_terminal({"message": "Who?", "reason": "r", "responseSchema": schema})

    assert answer == {"name": "Ana", "docks": 3}
