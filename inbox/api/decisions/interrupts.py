"""REST: interrupts: list and read them."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import AgentName, Agui, Id, PersonName, example
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.pagination import page_response, reject_values
from inbox.api.base.schema import Page, Schema, source
from inbox.api.decisions.decisions import Decision, EndorsementState, ViewDigest, represent_decision
from inbox.api.files.files import FileReference, represent_attached
from inbox.api.runs.runs import ThreadName
from inbox.platform import clock
from inbox.queries.decisions import inbox_lists, interrupts
from inbox.queries.decisions.repeated_calls import RepeatedCall as RejectedCall
from inbox.queries.decisions.repeated_calls import repeated_calls
from inbox.queries.policies.policies import next_steps, reasons_of, stored_ruling
from inbox.queries.policies.quorum import progress_of_quorum
from inbox.rules import errors
from inbox.rules.decisions.list_filters import (
    MAX_NAME_CHARACTERS,
    MAX_SEARCH_CHARACTERS,
    InterruptFilter,
    ListState,
    Queue,
    Sort,
)
from inbox.rules.people.access import Permission
from inbox.rules.policies.endorsements import endorsed_answer
from inbox.rules.policies.language.policy import Effect
from inbox.rules.policies.requirement import StepKind
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import (
    masked_interrupt,
    secrets_of_answers,
    secrets_of_arguments,
)
from inbox.rules.schema.secrets import NAMES, Secrets, pointer

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="interrupts", scope=Permission.READ)

_NAME = {"type": "string", "maxLength": MAX_NAME_CHARACTERS}
_ID = {"type": "string", "format": "uuid"}
_DAY = {"type": "string", "format": "date"}
_FLAG = {"type": "string", "enum": ["1"]}
#: The parameters of `inbox.rules.decisions.list_filters`.
FILTERS = [
    query("status", "Only open or only closed interrupts.", {"enum": ["open", "closed"]}),
    query(
        "state",
        "A status that is more exact than `status`.",
        {"enum": [state.value for state in ListState]},
    ),
    query("run", "Only those of this run.", _ID),
    query("thread", "Only those of this thread.", _ID),
    query(
        "interrupt_id",
        "Only those with this AG-UI id, which is unique in a thread only.",
        _NAME,
    ),
    query("agent", "Only those of this agent.", _NAME),
    query("tool", "Only those about this tool.", _NAME),
    query("reason", "Only those with this reason.", _NAME),
    query("team", "Only those of this team.", _NAME),
    query("mine", "Only those that you have claimed or decided.", _FLAG),
    query(
        "queue",
        "Only those that you have claimed or are assigned to (mine), that nobody has (team), or "
        "that others have.",
        {"enum": [queue.value for queue in Queue if queue]},
    ),
    query("assigned", "Only those that are assigned to you.", _FLAG),
    query("started", "Only those of runs that you started.", _FLAG),
    query("snoozed", "Only those that you have snoozed.", _FLAG),
    query("since", "Only those created on this day or later; of closed ones, closed then.", _DAY),
    query(
        "until", "Only those created until the end of this day; of closed ones, closed then.", _DAY
    ),
    query("expiring", "Only those that expire soon.", _FLAG),
    query(
        "q",
        "Only those with all of these words.",
        {"type": "string", "maxLength": MAX_SEARCH_CHARACTERS},
    ),
    query("sort", "The order of the list.", {"enum": [sort.value for sort in Sort]}),
]
_STATUSES = {"open": ListState.OPEN, "closed": ListState.DECIDED}
Title = Annotated[str, example("Send an e-mail to kim@example.com: Your invoice")]


class Masked(Schema):
    pointer: str
    """Its place in this response (RFC 6901)."""
    hidden_by: Literal["name", "agent"]
    """The name of its key, or a mark in the schema that the agent sent."""


class RepeatedCall(Schema):
    """The rejection of a call with the same tool and equal arguments."""

    interrupt: Id
    by: PersonName
    at: datetime
    reason: Annotated[str, example("No budget.")]
    """The note of the rejection, with masked secrets; empty without one."""


class Interrupt(Schema):
    id: Id
    interrupt_id: Annotated[str, example("int-1")]
    run: Id = source("run_id")
    thread: Id = source("thread_id")
    thread_id: ThreadName = source("thread.external_id")
    agent: AgentName = source("thread.agent.slug")
    status: InterruptStatus
    reason: Annotated[str, example("tool_call")]
    title: Title
    tool: Annotated[str, example("write_to_customer")] | None = source("tool_call.name")
    args: Annotated[Any, example({"to": "kim@example.com", "subject": "Your invoice"})]
    """The arguments that an approval allows. Decisions about the same call may have edited them."""
    interrupt: Annotated[
        Agui,
        example(
            {
                "id": "int-1",
                "reason": "tool_call",
                "message": "Send an e-mail to kim@example.com: Your invoice",
                "toolCallId": "call-1",
            }
        ),
    ]
    masked: Annotated[list[Masked], example([])]
    """The masked texts in `args` and in the metadata of `interrupt`."""
    files: Annotated[list[FileReference], example([])]
    """The files that the agent attached."""
    view_digest: ViewDigest = source("shown_digest")
    """Send it with a decision, which then counts for this version of the interrupt only."""
    expires_at: datetime | None
    created_at: datetime
    closed_at: datetime | None
    restored_at: Annotated[datetime | None, example(None)]
    """When it came back with a backup; answers then need `despite_restore`, and cannot be sent
    otherwise than on its page and to `decide`. Null without a doubt."""
    assignee: PersonName | None
    """The person to whom it is assigned; others may decide it, too."""
    decision: Decision | None
    repeated_call: RepeatedCall | None
    """The last rejection of the same call in this thread; null without one."""


class Sibling(Schema):
    """An interrupt of the same run. What it asks is read by its id."""

    id: Id
    status: InterruptStatus


class PolicyStep(Schema):
    """A reminder or escalation that is still to come."""

    kind: StepKind
    due_at: datetime
    to: Annotated[list[str], example(["group:leads"])]
    """The groups and roles that may decide from then on, too; empty for reminders."""


class RulingOfPolicy(Schema):
    """The ruling of the team's policy when the interrupt was created."""

    version: int | None = source("version.number")
    """Of the team's policy; null without one."""
    installation_version: int | None = source("installation_version.number")
    """Of the installation's policy; null without one."""
    effect: Annotated[Effect, example("ask")]
    rules: Annotated[list[str], example(["large-refunds"])]
    """The ids of the rules that decided the effect."""
    reasons: Annotated[
        list[str],
        example(["Large refunds (version 7) asked: amount 860.5 > 50. Needs one reviewer."]),
    ]
    """The reasons as sentences; secrets are masked."""
    steps: Annotated[list[PolicyStep], example([])]
    """Reminders and escalations that are still to come, in the order of their times."""


class Endorsement(Schema):
    by: PersonName = source("user.display_name")
    user_id: int
    at: datetime = source("created_at")
    answer: Annotated[Any, example({"approved": True})]
    """The person's answer; others agree by giving the same."""
    counts: bool
    """False if somebody has changed the answer since, so that it counts no more."""


class InterruptWithSiblings(Interrupt):
    required: EndorsementState | None
    """The people whom the team's policy requires; null if one reviewer or key is enough."""
    endorsements: Annotated[list[Endorsement], example([])]
    """The approvals by one person each, in force or part of the decision."""
    policy: RulingOfPolicy | None
    """The ruling of the team's policy; null if there was no policy."""
    siblings: Annotated[list[Sibling], example([])]
    """The first interrupts of the run, with this one. It continues when all are decided."""


class Interrupts(ApiView):
    @operation(
        "GET",
        "List open or closed interrupts",
        {200: Page[Interrupt]},
        parameters=FILTERS,
        refusals=(errors.InvalidInput, errors.InvalidValue, errors.NotFound),
    )
    def list_interrupts(self, request: Request) -> Response:
        actor, pagination = self.actor, self.pagination
        after = pagination.after_id
        page = inbox_lists.full_list_for(
            actor,
            _filter(request),
            now=clock.now(),
            limit=pagination.limit,
            # The order may depend on columns of the row that the cursor names.
            after=interrupts.interrupt_for(actor, after) if after else None,
        )
        may_see_secrets = self.may_see_secrets
        repeated = repeated_calls(page.rows)
        return page_response(
            page.rows,
            page.after,
            lambda row: _represent(
                row,
                interrupts.listed_decision(row),
                request,
                may_see_secrets=may_see_secrets,
                repeated_call=_represent_repeated(repeated.get(row.pk)),
            ),
        )

    @operation(
        "GET",
        "Read one interrupt, with its siblings and its decision",
        {200: InterruptWithSiblings},
    )
    def get_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        detail = interrupts.detail_for(self.actor, interrupt_id)
        return Response(
            _represent(
                detail.interrupt,
                detail.decision,
                request,
                may_see_secrets=self.may_see_secrets,
                model=InterruptWithSiblings,
                repeated_call=_represent_repeated(detail.repeated_call),
                policy=_represent_ruling(detail.interrupt),
                required=detail.quorum
                and EndorsementState.represent(progress_of_quorum(detail.quorum)),
                endorsements=_endorsements(detail, may_see_secrets=self.may_see_secrets),
                siblings=[Sibling.represent(sibling) for sibling in detail.siblings],
            )
        )


def _represent_repeated(call: RejectedCall | None) -> dict[str, Any] | None:
    return None if call is None else RepeatedCall.represent(call)


def _endorsements(
    detail: interrupts.InterruptDetail, *, may_see_secrets: bool
) -> list[dict[str, Any]]:
    row = detail.interrupt
    secrets = secrets_of_answers(row.body)

    def represent(item: "models.Endorsement") -> dict[str, Any]:
        answer = endorsed_answer(item.payload)
        return Endorsement.represent(
            item,
            answer=answer if may_see_secrets else secrets.masked(answer),
            counts=item.counts_for(row),
        )

    return list(map(represent, detail.endorsements))


def _represent_ruling(row: "models.Interrupt") -> dict[str, Any] | None:
    ruling = stored_ruling(row)
    if ruling is None:
        return None
    return RulingOfPolicy.represent(
        row.ruling,
        rules=list(ruling.rules),
        reasons=reasons_of(row),
        steps=[
            PolicyStep.represent(step, to=list(step.to)) for step in next_steps(row, clock.now())
        ],
    )


def _filter(request: Request) -> InterruptFilter:
    """Return the filter of a list; `status` is older than `state`."""
    query = request.query_params.dict()
    status = query.pop("status", "open")
    if status not in _STATUSES:
        raise errors.InvalidInput("`status` is `open` or `closed`.")
    interrupt_filter, ignored = InterruptFilter.from_query(query, state=_STATUSES[status])
    rest_filter, ignored_by_rest = interrupt_filter.of_rest(query)
    reject_values([*ignored, *ignored_by_rest])
    return rest_filter


def _represent(
    row: "models.Interrupt",
    decision: "models.Decision | None",
    request: Request,
    *,
    may_see_secrets: bool,
    model: type[Interrupt] = Interrupt,
    **values: Any,
) -> dict[str, Any]:
    """Return an interrupt; secrets in it are masked unless `may_see_secrets`."""
    assignee = getattr(row, "assignee", None)
    args, interrupt, masked = _args(row), json.loads(row.body), []
    if not may_see_secrets:
        secrets = secrets_of_arguments(row.body)
        masked = _masked(args, interrupt, secrets)
        args, interrupt = secrets.masked(args), masked_interrupt(interrupt)
    return model.represent(
        row,
        args=args,
        assignee=assignee.user.display_name if assignee else None,
        interrupt=interrupt,
        masked=masked,
        files=represent_attached(row, request),
        decision=represent_decision(decision, None if may_see_secrets else row.body)
        if decision
        else None,
        **values,
    )


def _args(row: "models.Interrupt") -> Any:
    """Return what an approval allows, as an earlier decision about the call may have edited it."""
    if row.args is None or row.tool_call is None:
        return None
    return json.loads((row.current_args or "") if row.status == "open" else row.args)


def _masked(args: Any, body: Mapping[str, Any], secrets: Secrets) -> list[dict[str, str]]:
    hidden = {("args", *path): by for path, by in secrets.hidden_by(args).items()}
    metadata = NAMES.hidden_by(body.get("metadata"))
    hidden |= {("interrupt", "metadata", *path): by for path, by in metadata.items()}
    return [{"pointer": pointer(path), "hidden_by": by.value} for path, by in hidden.items()]
