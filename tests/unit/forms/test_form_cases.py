"""Every kind of schema: untouched comes back as it was, and nothing is invented."""

import json

import pytest

from agents.agui import strict_json
from inbox.forms.form import build_form
from inbox.forms.values import ABSENT
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.schema.schemas import read_schema
from tests.support.forms.cases import CASES, REFUSED, USABLE
from tests.support.forms.form_page import open_page


def ids(cases):
    return [case.name for case in cases]


def arrives(case):
    """The case as it comes over the wire, through every gate."""
    value = strict_json.loads(json.dumps(case.value))
    schema = strict_json.loads(json.dumps(case.schema))
    if schema is not None:
        read_schema(schema)
    return schema, value


def test_there_are_cases_enough():
    assert len(CASES) >= 21 + 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", REFUSED, ids=ids(REFUSED))
def test_schemas_without_a_safe_form_are_refused_with_a_reason(case):
    with pytest.raises(ValueError, match=case.refused):
        arrives(case)


@pytest.mark.parametrize("case", USABLE, ids=ids(USABLE))
def test_untouched_is_sent_exactly_as_the_agent_wrote_it(case):
    schema, value = arrives(case)
    form = build_form(schema=schema, value=value, name="args")

    reading = form.read(open_page(form).post())

    assert not reading.problems
    assert canonical_json(reading.value) == canonical_json(value)


@pytest.mark.parametrize("case", USABLE, ids=ids(USABLE))
def test_without_any_schema_untouched_is_sent_exactly_as_well(case):
    _, value = arrives(case)
    form = build_form(schema=None, value=value, name="args")

    reading = form.read(open_page(form).post())

    assert not reading.problems
    assert canonical_json(reading.value) == canonical_json(value)


@pytest.mark.parametrize("case", USABLE, ids=ids(USABLE))
def test_untouched_survives_the_json_tab_and_the_way_back(case):
    schema, value = arrives(case)
    form = build_form(schema=schema, value=value, name="args")
    for tab in ("tab:json:args", "tab:form:args"):
        form = build_form(schema=schema, value=value, name="args", data=open_page(form).press(tab))

        reading = form.read(open_page(form).post())

        assert not reading.problems
        assert canonical_json(reading.value) == canonical_json(value)


@pytest.mark.parametrize("case", USABLE, ids=ids(USABLE))
def test_an_unanswered_form_invents_nothing(case):
    schema, _ = arrives(case)
    form = build_form(schema=schema, name="answer")

    reading = form.read(open_page(form).post())

    if schema == {"type": "null"}:
        return
    assert reading.value is ABSENT


@pytest.mark.parametrize("case", USABLE, ids=ids(USABLE))
def test_ids_are_unique_and_safe_and_explanations_exist(case):
    schema, value = arrives(case)
    page = open_page(build_form(schema=schema, value=value, name="args"))

    described = [
        id_
        for control in page.controls
        for id_ in control.attributes.get("aria-describedby", "").split()
    ]

    assert len(page.ids) == len(set(page.ids))
    assert all(id_.startswith("f-args") for id_ in page.ids)
    assert all(id_.replace("_", "").replace("-", "").isalnum() for id_ in page.ids)
    assert set(described) <= set(page.ids)
    assert len(list(page.pairs())) < 1_000
