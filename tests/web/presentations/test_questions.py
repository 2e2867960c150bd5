"""Questions without arguments: the step of a wizard, and an error to recover from."""

import pytest
from ag_ui.core import Interrupt, RunFinishedEvent, RunFinishedInterruptOutcome

from agents.sdk.present import Fact, Present, Section, with_present
from tests.support.steps import open_interrupts, start


@pytest.fixture
def ask(world, as_agent):
    """Let an agent ask a question; returns the interrupt."""

    def ask(present, reason="input_required"):
        async def play(run_input, ctx):
            interrupt = Interrupt(
                id="i",
                reason=reason,
                message="What now?",
                response_schema={"type": "object", "properties": {"note": {"type": "string"}}},
                metadata=with_present(None, present),
            )
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        return open_interrupts(start(world, "go", agent=as_agent(play)))[0]

    return ask


def test_wizard_shows_its_steps_and_earlier_answers(ask, reads_bob):
    answers = Section("Answered before", [Fact("Full name", "Ada")])

    page = reads_bob.open(ask(Present(step=(2, 3), sections=[answers])))

    assert page.count("wizard-done") == page.count("wizard-now") == page.count("wizard-next") == 1
    assert 'aria-current="step"' in page
    assert "Step 2 of 3" in page
    assert "Answered before" in page
    assert "Ada" in page


@pytest.mark.parametrize("step", [(0, 3), (4, 3), (2, 999)])
def test_wizard_with_odd_numbers_shows_only_the_number(ask, reads_bob, step):
    page = reads_bob.open(ask(Present(step=step)))

    assert 'class="wizard"' not in page
    assert "What now?" in page


def test_error_stands_first_with_the_step_that_failed(ask, reads_bob):
    facts = [Fact("Imported before", 1200, unit="rows"), Fact("Failed step", "import_file")]

    page = reads_bob.open(ask(Present(kind="error", facts=[*facts, Fact("Error", "not UTF-8")])))

    failure = page[page.index('class="failure"') :]
    assert failure.index("not UTF-8") < failure.index("import_file") < failure.index("1,200")
    assert page.count('dir="auto">import_file</span>') == 1


def test_facts_without_a_presentation_stay_in_their_group(ask, reads_bob):
    page = reads_bob.open(ask(Present(facts=[Fact("Owner", "Ada")])))

    assert 'class="failure"' not in page
    assert '<dt dir="auto">Owner</dt>' in page
