"""Findings of the verifier: each code has an English and a German text."""

import ast
import json
import re
from pathlib import Path
from string import Formatter

import pytest
from django.utils import translation
from django.utils.text import capfirst
from django.utils.translation import gettext

from inbox.queries.audit.verification_runs import VerificationProblem
from inbox.web.audit.verification_status import describe
from tools import audit_verifier
from tools.audit_verifier import PLACES, PROBLEMS, Finding, Verifier

ROOT = Path(__file__).resolve().parents[3]
#: Pages have sentences of their own for these.
WITHOUT_TEXT = {"entry", "chain"}
PLACE_CODES = sorted(PLACES.keys() - WITHOUT_TEXT)
CHAIN = "0193-a-chain"


def arguments_of(*texts):
    return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}


def emitted_codes():
    """Yield the texts in each call that makes a finding: places and problems."""
    folders = (ROOT / "inbox/transparency_log", ROOT / "inbox/actions/audit")
    modules = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    for path in [Path(audit_verifier.__file__), *modules]:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(ast.Name("self" | "verifier"), "find")):
                    yield from texts_in(node.args)
                case ast.Call(func=ast.Name("Finding" | "_in_entry" | "LogMismatch")):
                    yield from texts_in(node.args[:2])


def texts_in(nodes):
    return [node.value for node in nodes if isinstance(node, ast.Constant)]


@pytest.mark.parametrize("text", [*map(PLACES.get, PLACE_CODES), *PROBLEMS.values()])
def test_each_code_has_a_german_text_with_the_same_arguments(text):
    with translation.override("de"):
        german = gettext(text)

    assert german != text
    assert arguments_of(german) == arguments_of(text)


def test_each_code_is_used_and_each_used_code_has_a_text():
    codes = set(emitted_codes())

    assert set(PROBLEMS) <= codes
    assert {code for code in codes if re.fullmatch(r"[a-z_]+", code)} <= {*PLACES, *PROBLEMS}


@pytest.mark.parametrize(
    ("place", "code"),
    [*((place, "not_signed") for place in PLACE_CODES), *(("log", code) for code in PROBLEMS)],
)
def test_page_and_command_line_describe_a_finding_alike(place, code):
    values = dict.fromkeys(arguments_of(PLACES[place], PROBLEMS[code]), 7)

    report = Finding(place, code, values).report()
    text, url = describe(VerificationProblem(place, code, json.loads(json.dumps(values))))

    assert (text, url) == (capfirst(f"{report['where']}: {report['problem']}"), "")


@pytest.mark.parametrize("code", PROBLEMS)
def test_page_and_command_line_describe_a_finding_in_an_entry_alike(code):
    values = {**dict.fromkeys(arguments_of(PROBLEMS[code]), 7), "chain": CHAIN, "seq": 3}

    report = Finding("entry", code, values).report()
    text, _ = describe(VerificationProblem("entry", code, values))

    assert (report["where"], text) == (f"{CHAIN} 3", f"Team entry 3: {report['problem']}")


def test_braces_and_control_characters_in_arguments_are_text():
    verifier = Verifier(None)
    verifier.find("note", "other_log", text="{size} {0}\x1b[2J", error="{error}")

    [finding] = verifier.report()["findings"]

    assert finding["where"] == r"checkpoint {size} {0}\x1b[2J"
    with translation.override("de"):
        text, _ = describe(VerificationProblem("note", "other_log", finding["arguments"]))
    assert text == r"Prüfpunkt {size} {0}\x1b[2J: er gehört nicht zu diesem Log: {error}"
