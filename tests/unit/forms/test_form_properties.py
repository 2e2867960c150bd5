"""Any value under any schema that passed the gate, and any post."""

from urllib.parse import urlencode

from django.http import QueryDict
from hypothesis import assume, given
from hypothesis import strategies as st

from agents.agui import strict_json
from inbox.forms.form import build_form
from inbox.forms.values import ABSENT
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import check_schema
from tests.support.forms.form_page import open_page
from tests.support.forms.strategies import SCHEMAS, TEXTS, schema_and_value
from tests.support.properties.json_values import generated

NASTY = [
    *["0", "1,0", "99999999", "off", "null", "json", "{", "1e999", "9" * 400, "1.10", "-", "[]"],
    *["add:args", "remove:args/0", "branch:1:args", "branch:x:", "put:args", "tab:json"],
]


def accepted(schema):
    try:
        strict_json.loads(strict_json.dumps(schema))
        check_schema(schema)
    except (SchemaRejected, strict_json.JsonRejected):
        return False
    return True


def is_fixed(form):
    """Whether there is but one answer, which the form shows and nobody has to type."""
    return form.root.kind == "fixed"


@generated(400)
@given(schema_and_value())
def test_untouched_is_sent_exactly_as_the_agent_wrote_it(pair):
    schema, value = pair
    assume(accepted(schema))
    form = build_form(schema=schema, value=value, name="args")

    reading = form.read(open_page(form).post())

    assert not reading.problems
    assert canonical_json(reading.value) == canonical_json(value)


@generated(200)
@given(SCHEMAS)
def test_an_unanswered_form_invents_nothing(schema):
    assume(accepted(schema))
    form = build_form(schema=schema, name="answer")

    reading = form.read(open_page(form).post())

    assert reading.value is ABSENT or is_fixed(form)


@generated(200)
@given(schema_and_value(), st.booleans(), st.lists(st.integers(0, 99), max_size=5))
def test_any_buttons_pressed_leave_a_form_that_can_be_read(pair, is_there, presses):
    schema, value = pair[0], pair[1] if is_there else ABSENT
    assume(accepted(schema))
    form = build_form(schema=schema, value=value, name="args")
    for press in presses:
        page = open_page(form)
        button = page.buttons[press % len(page.buttons)]
        form = build_form(schema=schema, value=value, name="args", data=page.press(button))

    page = open_page(form)
    reading = form.read(page.post())

    assert len(page.ids) == len(set(page.ids))
    assert {problem.field_id for problem in reading.problems} <= set(page.ids)
    if reading.value is not ABSENT:
        canonical_json(reading.value)


@generated(150)
@given(schema_and_value(), st.data())
def test_a_field_that_did_not_arrive_is_an_error(pair, data):
    schema, value = pair
    assume(accepted(schema))
    form = build_form(schema=schema, value=value, name="args")
    page = open_page(form)
    pairs = list(page.pairs())
    boxes = {control.name for control in page.controls if control.type == "checkbox"}
    lost = data.draw(st.sampled_from(sorted({name for name, _ in pairs} - boxes)))

    reading = form.read(QueryDict(urlencode([pair for pair in pairs if pair[0] != lost])))

    assert any("submitted" in problem.message for problem in reading.problems)


@generated(200)
@given(schema_and_value(), st.booleans(), st.data())
def test_whatever_is_posted_is_read_or_refused(pair, is_there, data):
    schema, value = pair[0], pair[1] if is_there else ABSENT
    assume(accepted(schema))
    form = build_form(schema=schema, value=value, name="args")
    pairs = dict(open_page(form).pairs())
    names = st.sampled_from([*pairs, "draft", "args.json"])
    words = TEXTS | st.sampled_from(NASTY)
    pairs |= data.draw(st.dictionaries(names, words, max_size=4))
    post = QueryDict(urlencode(pairs))

    reading = form.read(post)
    rejected = build_form(schema=schema, value=value, name="args", data=post)

    assert open_page(rejected).ids
    if reading.value is not ABSENT:
        strict_json.dumps(reading.value)
