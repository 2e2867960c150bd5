"""An onboarding wizard: three interrupts in sequence, each with its own form."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from agents.sdk.present import Fact, Present, Section
from agents.sdk.workflow import WorkflowContext, workflow


class Person(BaseModel):
    name: str = Field(title="Full name", min_length=1)
    team: Literal["Engineering", "Finance", "Support", "Sales"] = Field(title="Team")
    starts_on: str = Field(title="First day", json_schema_extra={"format": "date"})


class Equipment(BaseModel):
    laptop: Literal["13 inch", "15 inch"] = Field(title="Laptop")
    docks: int = Field(default=1, title="Docks", ge=0, le=3)
    extras: list[str] = Field(default=[], title="Anything else")


class Access(BaseModel):
    systems: list[Literal["Wiki", "Repository", "Payroll", "Customer data"]] = Field(
        title="Systems"
    )
    until: str | None = Field(
        default=None, title="Access ends on", json_schema_extra={"format": "date"}
    )


STEPS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("Who joins us?", Person),
    ("What do they need on their desk?", Equipment),
    ("What may they use?", Access),
)


def _answered(answers: Mapping[str, object]) -> list[Section]:
    """Return the answers of the steps before, for the page of the next one."""
    facts = [Fact(name.replace("_", " ").capitalize(), value) for name, value in answers.items()]
    return [Section("Answered before", facts)] if facts else []


@workflow()
async def onboarding(ctx: WorkflowContext) -> None:
    """Collects the data of a new colleague in three forms, and sums them up."""
    answers: dict[str, object] = {}
    for number, (question, model) in enumerate(STEPS, start=1):
        await ctx.progress("Onboarding", done=number - 1, total=len(STEPS))
        reply = await ctx.interrupt(
            question,
            response_schema=model.model_json_schema(),
            present=Present(step=(number, len(STEPS)), sections=_answered(answers)),
        )
        if reply.is_cancelled:
            await ctx.emit_text("Then we go on another time.")
            return
        answers |= reply.payload
        await ctx.update_state(**answers)
    await ctx.progress("Onboarding", done=len(STEPS), total=len(STEPS))
    await ctx.emit_text(f"Everything is ordered for {answers['name']}.")
