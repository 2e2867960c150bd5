"""REST: parse, one call, translate."""

from collections.abc import Mapping
from uuid import UUID

from django.core.validators import slug_re
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox import engine
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.decisions.decide import decide
from inbox.actions.idempotency import idempotency_digest
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import new_external_id
from inbox.api.base import serializers
from inbox.api.base.base_view import Caller, idempotency_key, made
from inbox.api.base.openapi_descriptions import (
    IDEMPOTENCY_KEY,
    IF_MATCH,
    operation,
    page_parameters,
    query,
)
from inbox.api.base.pagination import SLUG, Window, refuse_ignored
from inbox.api.base.request_models import (
    DecisionInput,
    RemoteAgentInput,
    StartRunInput,
    checked,
)
from inbox.api.base.response_models import (
    AcceptedRun,
    Agent,
    AgentWithCapabilities,
    Capabilities,
    ConnectionTest,
    Decision,
    InputSchema,
    Interrupt,
    InterruptWithSiblings,
    Page,
    Run,
    Thread,
    ThreadWithMessages,
)
from inbox.api.runs.long_poll import LONGEST_WAIT_SECONDS, check_wait
from inbox.engine.connection_test import run_connection_test
from inbox.queries.agents import agents
from inbox.queries.decisions import inbox_lists, interrupts
from inbox.queries.runs import threads
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.list_filters import (
    MAX_NAME_CHARACTERS,
    MAX_SEARCH_CHARACTERS,
    InterruptFilter,
    ListState,
    Sort,
)
from inbox.rules.errors import (
    AddressTaken,
    AlreadyDecided,
    Claimed,
    EditsNotOffered,
    IdempotencyConflict,
    InboxOnly,
    InterruptExpired,
    InvalidInput,
    InvalidPayload,
    InvalidValue,
    MaskedNotSeen,
    NotFound,
    NotRemote,
    PendingInterrupts,
    RetryRejected,
    RunEnded,
    ThreadBusy,
    TooManyTests,
    ViewChanged,
    ViewDigestRequired,
)
from inbox.rules.people.access import Permission, may_see_secrets
from inbox.rules.runs.states import EntryStatus, RunStatus
from inbox.rules.schema.secrets import NAMES

_NAME = {"type": "string", "maxLength": MAX_NAME_CHARACTERS}
_WAIT = {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_SECONDS}
_FLAG = {"type": "string", "enum": ["1"]}
_STATES = {"type": "string", "pattern": "^{0}(,{0})*$".format(f"({'|'.join(RunStatus)})")}
#: The parameters of `inbox.rules.decisions.list_filters`.
FILTERS = [
    query("status", "What waits, or what is closed.", {"enum": ["open", "closed"]}),
    query("state", "The same more exactly.", {"enum": [state.value for state in ListState]}),
    query("agent", "Of this agent.", _NAME),
    query("tool", "About this tool.", _NAME),
    query("reason", "With this reason.", _NAME),
    query("team", "Of this team.", _NAME),
    query("mine", "Claimed or decided by whoever asks.", _FLAG),
    query("expiring", "About to expire.", _FLAG),
    query("q", "With all of these words.", {"type": "string", "maxLength": MAX_SEARCH_CHARACTERS}),
    query("sort", "The order.", {"enum": [sort.value for sort in Sort]}),
]
_STATUSES = {"open": ListState.OPEN, "closed": ListState.DECIDED}


class Runs(Caller, APIView):
    @operation(
        "listRuns",
        "List the latest runs",
        tag="runs",
        scope=Permission.READ,
        answers={200: Page[Run]},
        refuses=(NotFound,),
        parameters=[
            query("status", "Those in one of these states only.", _STATES),
            query("agent", "Of this agent.", SLUG),
            query("thread", "Of this thread.", {"type": "string", "format": "uuid"}),
        ],
    )
    def get(self, request: Request) -> Response:
        actor, query = self.actor(request), request.query_params
        window = Window.of(query)
        thread = query.get("thread")
        found = threads.runs_for(
            actor,
            limit=window.one_more,
            after=window.after_id,
            statuses=_run_statuses(query.get("status", "")),
            agent=_agent_of(query),
            thread=threads.thread_for(actor, _id_of("thread", thread)) if thread else None,
        )
        return window.page(found, serializers.run_json)

    @operation(
        "startRun",
        "Start a run",
        tag="runs",
        scope=Permission.RUN,
        answers={202: AcceptedRun},
        takes=StartRunInput,
        refuses=(InvalidValue, NotFound, IdempotencyConflict, PendingInterrupts, ThreadBusy),
        parameters=[IDEMPOTENCY_KEY],
        more="Without `thread_id` the run opens a thread of its own.",
    )
    def post(self, request: Request) -> Response:
        body = StartRunInput(data=request.data)
        body.is_valid(raise_exception=True)
        key = idempotency_key(request)
        actor = self.actor(request)
        agent = agents.agent_for(actor, body.validated_data["agent"])
        wanted = body.to_request(seed=idempotency_digest(actor, key) or new_external_id())
        accepted = engine.start_run(agent=agent, request=wanted, actor=actor, idempotency_key=key)
        answer = {**serializers.run_json(accepted.run), "replayed": accepted.replayed}
        return made(answer, replayed=accepted.replayed, status=202)


class RunDetail(Caller, APIView):
    @operation(
        "getRun",
        "Read one run, with its terminal event",
        tag="runs",
        scope=Permission.READ,
        answers={200: Run},
        refuses=(NotFound,),
        parameters=[query("wait", "Answer when it pauses or ends, or after these seconds.", _WAIT)],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        check_wait(request.query_params.get("wait", "0"))
        actor = self.actor(request)
        run = threads.run_for(actor, run_id)
        terminal = threads.terminal_event_of(run)
        return Response(serializers.run_json(run, terminal, whole=may_see_secrets(actor)))


class RunCancel(Caller, APIView):
    @operation(
        "cancelRun",
        "Cancel an active run, or the open interrupts of an interrupted one",
        tag="runs",
        scope=Permission.RUN,
        answers={200: Run},
        refuses=(NotFound, RunEnded, Claimed, InboxOnly),
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        # A key that may run but not read is told what its own request made of the run.
        run = cancel_run(run_id=run_id, actor=self.actor(request))
        return Response(serializers.run_json(run, threads.terminal_event_of(run)))


class RunRetry(Caller, APIView):
    @operation(
        "retryRun",
        "Try a failed run again",
        tag="runs",
        scope=Permission.RUN,
        answers={202: AcceptedRun},
        refuses=(NotFound, RetryRejected),
        more="With the same input and decisions; what may have happened is asked first.",
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        accepted = engine.retry_run(run_id, self.actor(request))
        answer = {**serializers.run_json(accepted.run), "replayed": accepted.replayed}
        return made(answer, replayed=accepted.replayed, status=202)


class Agents(Caller, APIView):
    @operation(
        "listAgents",
        "List the agents",
        tag="agents",
        scope=Permission.READ,
        answers={200: Page[Agent]},
        parameters=page_parameters(SLUG),
    )
    def get(self, request: Request) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        found = agents.agents_page(actor, limit=window.one_more, after=window.after_name)
        return window.page(
            found,
            lambda row: serializers.agent_json(row, agents.location_of(actor, row)),
            lambda row: row.slug,
        )


class AgentDetail(Caller, APIView):
    takes_if_match = True

    @operation(
        "getAgent",
        "Read one agent, with its capabilities",
        tag="agents",
        scope=Permission.READ,
        answers={200: AgentWithCapabilities},
        refuses=(NotFound,),
    )
    def get(self, request: Request, slug: str) -> Response:
        actor = self.actor(request)
        agent = agents.agent_for(actor, slug)
        capabilities = engine.capabilities_of(agent.implementation)
        shown = serializers.agent_json(agent, agents.location_of(actor, agent))
        return Response({**shown, "capabilities": capabilities})

    @operation(
        "setRemoteAgent",
        "Add an agent elsewhere, or change it",
        tag="agents",
        scope=Permission.ADMIN,
        answers={200: Agent, 201: Agent},
        takes=RemoteAgentInput,
        refuses=(InvalidValue, NotFound, AddressTaken),
        more="Without `headers` those that are kept stay, as long as the URL names the same place. "
        + IF_MATCH,
    )
    def put(self, request: Request, slug: str) -> Response:
        given, actor = dict(checked(RemoteAgentInput, request)), self.actor(request)
        team_id = agents.team_for_agent(actor, slug, given.pop("team"))
        placed = set_remote_agent(
            team_id=team_id, slug=slug, actor=actor, check_seen=self.as_seen(request), **given
        )
        agent = agents.agent_for(actor, placed.agent.slug)
        shown = serializers.agent_json(agent, agents.location_of(actor, agent))
        return Response(shown, status=201 if placed.is_new else 200)


class AgentCapabilities(Caller, APIView):
    @operation(
        "getAgentCapabilities",
        "Read what an agent can do",
        tag="agents",
        scope=Permission.READ,
        answers={200: Capabilities},
        refuses=(NotFound,),
    )
    def get(self, request: Request, slug: str) -> Response:
        agent = agents.agent_for(self.actor(request), slug)
        return Response({"capabilities": engine.capabilities_of(agent.implementation)})


class AgentInputSchema(Caller, APIView):
    @operation(
        "getAgentInputSchema",
        "Read what the runs of an agent take",
        tag="agents",
        scope=Permission.READ,
        answers={200: InputSchema},
        refuses=(NotFound,),
    )
    def get(self, request: Request, slug: str) -> Response:
        agent = agents.agent_for(self.actor(request), slug)
        return Response({"input_schema": engine.input_schema_of(agent.implementation)})


class AgentTest(Caller, APIView):
    @operation(
        "testRemoteAgent",
        "Test the connection to an agent elsewhere",
        tag="agents",
        scope=Permission.ADMIN,
        answers={200: ConnectionTest},
        refuses=(NotFound, NotRemote, TooManyTests),
        more="Takes up to ten seconds.",
    )
    def post(self, request: Request, slug: str) -> Response:
        return Response(serializers.test_json(run_connection_test(slug, self.actor(request))))


class Threads(Caller, APIView):
    @operation(
        "listThreads",
        "List the threads",
        tag="threads",
        scope=Permission.READ,
        answers={200: Page[Thread]},
        parameters=[query("agent", "Of this agent.", SLUG)],
    )
    def get(self, request: Request) -> Response:
        window = Window.of(request.query_params)
        found = threads.threads_for(
            self.actor(request),
            limit=window.one_more,
            after=window.after_id,
            agent=_agent_of(request.query_params),
        )
        return window.page(found, serializers.thread_json)


class ThreadDetail(Caller, APIView):
    @operation(
        "getThread",
        "Read one thread, with its messages and state",
        tag="threads",
        scope=Permission.READ,
        answers={200: ThreadWithMessages},
        refuses=(NotFound,),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        hydration, whole = threads.hydration_of(thread), may_see_secrets(self.actor(request))
        return Response(
            {
                **serializers.thread_json(thread),
                "messages": serializers.messages_json(hydration, whole),
                "state": hydration.state if whole else NAMES.masked(hydration.state),
                "active_run": str(hydration.active.pk) if hydration.active else None,
            }
        )


class Interrupts(Caller, APIView):
    @operation(
        "listInterrupts",
        "List what waits, or what was decided",
        tag="interrupts",
        scope=Permission.READ,
        answers={200: Page[Interrupt]},
        refuses=(InvalidInput, InvalidValue, NotFound),
        parameters=FILTERS,
    )
    def get(self, request: Request) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        after = window.after_id
        found = inbox_lists.full_list_for(
            actor,
            _filter(request),
            now=timezone.now(),
            limit=window.limit,
            # The list may be in the order of what only the row itself says.
            after=interrupts.interrupt_for(actor, after) if after else None,
        )
        results = [
            serializers.interrupt_json(row, whole=may_see_secrets(actor)) for row in found.rows
        ]
        following = str(found.after) if found.after else None
        return Response({"results": results, "next_after": following})


class InterruptDetail(Caller, APIView):
    @operation(
        "getInterrupt",
        "Read one interrupt, with its siblings and its decision",
        tag="interrupts",
        scope=Permission.READ,
        answers={200: InterruptWithSiblings},
        refuses=(NotFound,),
    )
    def get(self, request: Request, interrupt_id: UUID) -> Response:
        actor = self.actor(request)
        detail = interrupts.detail_for(actor, interrupt_id)
        return Response(serializers.detail_json(detail, whole=may_see_secrets(actor)))


class InterruptDecide(Caller, APIView):
    @operation(
        "decideInterrupt",
        "Answer one interrupt",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={200: Decision},
        takes=DecisionInput,
        refuses=(
            NotFound,
            AlreadyDecided,
            Claimed,
            InboxOnly,
            InterruptExpired,
            InvalidPayload,
            EditsNotOffered,
            MaskedNotSeen,
            ViewChanged,
            ViewDigestRequired,
        ),
        more="The last answer that a run waits for resumes it.",
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given = checked(DecisionInput, request)
        actor = self.actor(request)
        decision = decide(
            interrupt_id=interrupt_id,
            status=EntryStatus(given["status"]),
            payload=given.get("payload"),
            view_digest=given["view_digest"],
            actor=actor,
            entrance=Entrance.REST,
            unseen=given["unseen"],
        )
        return Response(serializers.told_decision_json(decision, actor))


def _filter(request: Request) -> InterruptFilter:
    """The same parameters as in the address of a list, `status` from before there were others."""
    query = request.query_params.dict()
    status = query.pop("status", "open")
    if status not in _STATUSES:
        raise InvalidInput("`status` is `open` or `closed`.")
    wanted, ignored = InterruptFilter.from_query(query, state=_STATUSES[status])
    refuse_ignored(ignored)
    return wanted


def _run_statuses(text: str) -> list[RunStatus]:
    """Several are divided by commas."""
    try:
        return [RunStatus(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise InvalidInput(f"`status` is one of {', '.join(RunStatus)}, or several.") from error


def _agent_of(query: Mapping[str, str]) -> str:
    name = query.get("agent", "")
    if name and not slug_re.fullmatch(name):
        raise InvalidInput("`agent` is the name of an agent.")
    return name


def _id_of(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput(f"`{name}` is the id of a {name}.") from error
