"""No legal schema of an agent fails its run, and each has a page that answers it."""

import json

import ag_ui.core as agui
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import schema_problems
from tests.support.agents.agent_events import asking, error_of, finished
from tests.support.environment import IS_FULL
from tests.support.forms.cases import USABLE
from tests.support.forms.generated_schemas import GENERATED
from tests.support.forms.strategies import schema_and_value
from tests.support.properties.json_values import generated
from tests.support.steps import open_interrupts, resumed_run, start
from tests.web.conftest import reads_bob

__all__ = ["reads_bob"]


def legal(schema, value):
    """Return whether this is a schema, and a value that is an answer to it."""
    try:
        return not schema_problems(schema, value)
    except SchemaRejected:
        return False


CASES = [
    case
    for case in (*GENERATED, *USABLE)
    if case.schema is not None and legal(case.schema, case.value)
]
#: Of one run each: a page shows one of its requests.
BATCH = 20
_CHOSEN = CASES if IS_FULL else CASES[::4]
BATCHES = [_CHOSEN[first : first + BATCH] for first in range(0, len(_CHOSEN), BATCH)]


@pytest.fixture
def answer_on_pages(world, as_agent, reads_bob):
    """Ask for these answers in one run, give each on its page, and return what the agent gets."""
    deliveries = []
    batches = []

    async def play(run_input, context):
        if run_input.resume:
            deliveries.extend(answer.resume_entry.payload for answer in context.answers)
            yield finished(run_input)
            return
        yield asking(
            run_input,
            *(
                agui.Interrupt(id=f"i{number}", reason="acme:ask", response_schema=schema)
                for number, (schema, _) in enumerate(batches[-1])
            ),
        )

    agent = as_agent(play)

    def reply_on_page(interrupt, value):
        """Press Yes or No where the page has these buttons; write others into the JSON tab."""
        if isinstance(value, bool) and 'value="yes"' in reads_bob.open(interrupt):
            return reads_bob.send(interrupt, "yes" if value else "no")
        # Confirms invisible characters, where there are some.
        as_json = {"answer": json.dumps(value)}
        return reads_bob.send(interrupt, "answer", as_json=as_json, seen="on")

    def answer(pairs):
        deliveries.clear()
        batches.append(pairs)
        run = start(world, "go", agent=agent)
        assert run.status == "interrupted", error_of(run)
        for interrupt, (schema, value) in zip(open_interrupts(run), pairs, strict=True):
            reply = reply_on_page(interrupt, value)
            assert reply.status_code == 303, (schema, value)
        assert resumed_run(run).status == "succeeded"
        return list(deliveries)

    return answer


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch[0].name)
def test_each_schema_that_tools_write_is_answered_on_its_page(answer_on_pages, batch):
    deliveries = answer_on_pages([(case.schema, case.value) for case in batch])

    assert json.dumps(deliveries) == json.dumps([case.value for case in batch])


def test_the_table_has_500_schemas_that_are_legal():
    assert [case.name for case in GENERATED if not legal(case.schema, case.value)] == []
    assert len({case.name for case in CASES}) >= 500


# Without shrinking: a failure names its schema, and each try costs a run.
@settings(generated(8), phases=[Phase.generate])
@given(st.lists(schema_and_value().filter(lambda pair: legal(*pair)), min_size=5, max_size=5))
def test_each_generated_schema_is_answered_on_its_page(answer_on_pages, pairs):
    assert json.dumps(answer_on_pages(pairs)) == json.dumps([value for _, value in pairs])
