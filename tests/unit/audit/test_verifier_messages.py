"""What the verifier finds, as pages say it: each of its sentences has one in every language."""

import ast
import re
from pathlib import Path

import pytest
from django.utils import translation

from inbox.web.audit.verifier_messages import (
    PLACES,
    PROBLEMS,
    say_place,
    say_problem,
)

INBOX = Path(__file__).resolve().parents[3] / "inbox"
#: These names stand for the number of an entry in a chain, whose sentence is the page's.
IN_A_CHAIN = {"where", "str(chain)"}


def calls_of_the_verifier():
    """Each `find(where, problem)` of what verifies."""
    script = INBOX.parent / "tools/audit_verifier.py"
    for path in [script, *sorted(INBOX.rglob("*.py"))]:
        if "Verifier(" in (source := path.read_text()) or path == script:
            for node in ast.walk(ast.parse(source)):
                match node:
                    case ast.Call(
                        func=ast.Attribute(ast.Name("self" | "verifier"), "find"),
                        args=[where, problem],
                    ):
                        yield where, problem


def errors_that_are_quoted():
    """What stands behind a colon in a problem, in the places where these are raised."""
    found = [
        node.args[0].value
        for node in ast.walk(ast.parse((INBOX / "actions/audit/transparency_log.py").read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "LogMismatch"
    ]
    assert len(found) >= 3
    yield from found


def filled(node):
    """The text of a literal, with a number in the place of each value."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(map(filled, parts))
        case ast.FormattedValue():
            return "7"
    raise AssertionError(f"no text that can be looked up: {ast.unparse(node)}")


CALLS = list(calls_of_the_verifier())
WHERES = sorted({filled(where) for where, _ in CALLS if ast.unparse(where) not in IN_A_CHAIN})
WHATS = sorted({*(filled(problem) for _, problem in CALLS), *errors_that_are_quoted()})


@pytest.mark.parametrize(("known", "said"), [(PLACES, WHERES), (PROBLEMS, WHATS)])
def test_no_sentence_is_left_over(known, said):
    assert {re.sub(r"\{\w+\}", "7", pattern) for pattern in known} <= set(said)


@pytest.mark.parametrize("problem", WHATS)
def test_each_problem_is_said_in_the_readers_language(problem):
    assert say_problem(problem) == problem
    with translation.override("de"):
        assert say_problem(problem) != problem


@pytest.mark.parametrize("where", WHERES)
def test_each_place_is_said_in_the_readers_language(where):
    assert say_place(where) == where
    with translation.override("de"):
        assert say_place(where) != where


def test_what_is_behind_a_colon_is_said_in_it_too():
    with translation.override("de"):
        said = say_problem("entries cannot be signed: the last checkpoint cannot be read")

    assert said == "Einträge lassen sich nicht signieren: der letzte Prüfpunkt ist nicht lesbar"


@pytest.mark.parametrize("text", ["", "odd", "log {0}", "log 1 to x", "7 of these exist\n"])
def test_what_is_none_of_these_stays_as_it_is(text):
    with translation.override("de"):
        assert (say_place(text), say_problem(text)) == (text, text)


def test_braces_in_what_is_quoted_are_only_text():
    with translation.override("de"):
        assert say_place("checkpoint {size} {0}") == "Prüfpunkt {size} {0}"
