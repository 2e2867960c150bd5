"""Which presentation a request gets, and what fills its roles."""

import pytest

from inbox.rules.presentations.registry import (
    PresentationName,
    SpecialPresentation,
    Subject,
    choose,
    roles_of,
)

CALLS = [
    ("send_email", {"to": "a@b.com", "subject": "Hi", "body": "…"}, "message"),
    ("sendEmail", {"to": "a@b.com", "body": "…"}, "message"),
    ("post_to_slack", {"channel": "#ops", "text": "Done"}, "message"),
    ("issue_refund", {"order": "88121", "amount": 142.5}, "money"),
    ("wire", {"amount": 5, "currency": "EUR", "iban": "DE…"}, "money"),
    ("run_statement", {"statement": "DELETE FROM users"}, "database"),
    ("execute", {"sql": "SELECT 1", "database": "crm"}, "database"),
    ("edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "code_change"),
    ("write_file", {"path": "a.py", "content": "x"}, "code_change"),
    ("apply", {"patch": "--- a"}, "code_change"),
    ("Bash", {"command": "ls", "description": "List"}, "command"),
    ("deploy", {"service": "api", "version": "9.2.1"}, "deployment"),
    ("promote", {"version": "9.2.1", "services": ["api"]}, "deployment"),
    ("update_dns_record", {"name": "shop", "value": "lb-2", "ttl": 300}, "dns"),
    ("recover_error", {"error": "not UTF-8", "file": "a.csv"}, "error"),
    ("find_payment", {"order": "88121"}, "generic"),
    ("archive", {"path": "a", "content": "x"}, "generic"),
    ("lookup", {"amount": 5}, "generic"),
    ("pay", {"amount_cents": 12400, "currency": "EUR", "iban": "DE…"}, "generic"),
    ("send_email", {}, "generic"),
]


@pytest.mark.parametrize(("tool", "values", "name"), CALLS)
def test_tool_and_arguments_choose_the_presentation(tool, values, name):
    assert choose(Subject(values, tool=tool)).name == name


def test_roles_are_filled_by_the_best_name_and_each_member_once():
    values = {"recipient": "Ana", "iban": "DE…", "amount": 5, "currency": "EUR", "note": "KG"}

    roles = choose(Subject(values, tool="transfer")).roles

    assert roles == {
        "amount": "amount",
        "currency": "currency",
        "recipient": "recipient",
        "purpose": "note",
    }


def test_labels_of_facts_fill_roles():
    values = {"Failed step": "import_file", "File": "a.csv", "Error": "not UTF-8"}

    chosen = choose(Subject(values, reason="error_recovery"))

    assert chosen.name is PresentationName.ERROR
    assert chosen.roles == {"error": "Error", "step": "Failed step", "target": "File"}


def test_step_without_a_tool_is_a_wizard_step():
    assert choose(Subject({}, is_step=True)).name is SpecialPresentation.WIZARD_STEP
    assert choose(Subject({}, tool="pay", is_step=True)).name is PresentationName.GENERIC


def test_teams_and_authors_cannot_declare_special_presentations():
    for name in SpecialPresentation:
        assert choose(Subject({"a": 1}, declared=name)).name is PresentationName.GENERIC


def test_names_in_camel_case_fill_roles():
    roles = choose(Subject({"affectedRows": 42, "query": "x", "rollbackPlan": "y"})).roles

    assert roles == {"query": "query", "rows": "affectedRows", "rollback": "rollbackPlan"}


def test_reason_and_kind_count_as_words():
    values = {"amount": 47.5, "customer_id": "c1"}

    assert choose(Subject(values, kind="refund_approval")).name is PresentationName.MONEY
    assert choose(Subject(values, reason="acme:payment")).name is PresentationName.MONEY
    assert choose(Subject(values)).name is PresentationName.GENERIC


def test_declared_kind_goes_first():
    values = {"command": "ls", "body": "x"}

    assert choose(Subject(values, declared="message")).name is PresentationName.MESSAGE


@pytest.mark.parametrize("declared", ["message", "unknown", "../../etc", "generic"])
def test_declared_kind_without_its_values_is_generic(declared):
    assert choose(Subject({"sql": "SELECT 1"}, declared=declared)).name is PresentationName.GENERIC


def test_declared_roles_go_before_names():
    subject = Subject(
        {"to": "a", "target": "b", "text": "c"},
        declared="message",
        roles={"to": "target", "body": "missing", "unknown": "text"},
    )

    assert choose(subject).roles == {"to": "target", "body": "text"}


def test_each_presentation_but_the_generic_one_has_roles():
    assert [name for name in PresentationName if not roles_of(name)] == [PresentationName.GENERIC]


def test_empty_values_fill_no_role():
    assert choose(Subject({"query": "", "sql": None, "command": []})).roles == {}
