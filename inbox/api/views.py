"""REST: parse, one call, translate."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox import engine
from inbox.actions.decisions import decide
from inbox.actions.remotes import set_remote_agent
from inbox.actions.runs import accept_run, cancel_run, idempotency_digest, new_external_id
from inbox.api import shapes
from inbox.api.inputs import DecisionInput, RemoteAgentInput, StartRunInput, checked
from inbox.domain.access import Actor
from inbox.domain.errors import InvalidInput
from inbox.domain.filters import Filter, State
from inbox.domain.states import EntryStatus
from inbox.engine.agents import try_connection
from inbox.selectors import agents, interrupts, lists, threads

PAGE = 50
_STATUSES = {"open": State.OPEN, "closed": State.DECIDED}


class Caller:
    """A view whose caller is an actor."""

    def actor(self, request: Request) -> Actor:
        actor: Actor = request.user.actor  # type: ignore[union-attr]
        return actor


class Runs(Caller, APIView):
    def get(self, request: Request) -> Response:
        rows = threads.runs_for(self.actor(request), limit=PAGE)
        return Response({"results": [shapes.run_json(row) for row in rows]})

    def post(self, request: Request) -> Response:
        body = StartRunInput(data=request.data)
        body.is_valid(raise_exception=True)
        key = _idempotency_key(request)
        actor = self.actor(request)
        agent = agents.agent_for(actor, body.validated_data["agent"])
        wanted = body.to_request(seed=idempotency_digest(actor, key) or new_external_id())
        engine.check_input(agent.implementation, wanted.input["forwardedProps"])
        accepted = accept_run(agent=agent, request=wanted, actor=actor, idempotency_key=key)
        answer = {**shapes.run_json(accepted.run), "replayed": accepted.replayed}
        return Response(answer, status=202)


class RunDetail(Caller, APIView):
    def get(self, request: Request, run_id: UUID) -> Response:
        run = threads.run_for(self.actor(request), run_id)
        return Response(shapes.run_json(run, threads.terminal_of(run)))


class RunCancel(Caller, APIView):
    def post(self, request: Request, run_id: UUID) -> Response:
        # A key that may run but not read is told what its own request made of the run.
        run = cancel_run(run_id=run_id, actor=self.actor(request))
        return Response(shapes.run_json(run, threads.terminal_of(run)))


class RunRetry(Caller, APIView):
    def post(self, request: Request, run_id: UUID) -> Response:
        accepted = engine.retry(run_id, self.actor(request))
        answer = {**shapes.run_json(accepted.run), "replayed": accepted.replayed}
        return Response(answer, status=202)


class Agents(Caller, APIView):
    def get(self, request: Request) -> Response:
        actor = self.actor(request)
        rows = agents.agents_for(actor)
        return Response(
            {"results": [shapes.agent_json(row, agents.place_of(actor, row)) for row in rows]}
        )


class AgentDetail(Caller, APIView):
    def get(self, request: Request, slug: str) -> Response:
        actor = self.actor(request)
        agent = agents.agent_for(actor, slug)
        capabilities = engine.capabilities_of(agent.implementation)
        shown = shapes.agent_json(agent, agents.place_of(actor, agent))
        return Response({**shown, "capabilities": capabilities})

    def put(self, request: Request, slug: str) -> Response:
        given, actor = dict(checked(RemoteAgentInput, request)), self.actor(request)
        team_id = agents.team_for_agent(actor, slug, given.pop("team"))
        placed = set_remote_agent(team_id=team_id, slug=slug, actor=actor, **given)
        agent = agents.agent_for(actor, placed.agent.slug)
        shown = shapes.agent_json(agent, agents.place_of(actor, agent))
        return Response(shown, status=201 if placed.is_new else 200)


class AgentTest(Caller, APIView):
    def post(self, request: Request, slug: str) -> Response:
        return Response(shapes.test_json(try_connection(slug, self.actor(request))))


class Threads(Caller, APIView):
    def get(self, request: Request) -> Response:
        rows = threads.threads_for(self.actor(request), limit=PAGE)
        return Response({"results": [shapes.thread_json(row) for row in rows]})


class ThreadDetail(Caller, APIView):
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        hydration = threads.hydration_of(thread)
        return Response(
            {
                **shapes.thread_json(thread),
                "messages": hydration.messages,
                "state": hydration.state,
                "active_run": str(hydration.active.pk) if hydration.active else None,
            }
        )


class Interrupts(Caller, APIView):
    def get(self, request: Request) -> Response:
        actor = self.actor(request)
        after = request.query_params.get("after")
        found = lists.whole_list_for(
            actor,
            _filter(request),
            now=timezone.now(),
            limit=PAGE,
            after=_cursor(actor, after) if after else None,
        )
        results = [shapes.interrupt_json(row) for row in found.rows]
        following = str(found.rows[-1].pk) if found.more else None
        return Response({"results": results, "next_after": following})


class InterruptDetail(Caller, APIView):
    def get(self, request: Request, interrupt_id: UUID) -> Response:
        detail = interrupts.detail_for(self.actor(request), interrupt_id)
        return Response(shapes.detail_json(detail))


class InterruptDecide(Caller, APIView):
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given = checked(DecisionInput, request)
        decision = decide(
            interrupt_id=interrupt_id,
            status=EntryStatus(given["status"]),
            payload=given.get("payload"),
            view_digest=given["view_digest"],
            actor=self.actor(request),
        )
        return Response(shapes.decision_json(decision))


def _idempotency_key(request: Request) -> str:
    key: str = request.headers.get("Idempotency-Key", "")
    if len(key) > 150:
        raise InvalidInput("An Idempotency-Key has up to 150 characters.")
    return key


def _filter(request: Request) -> Filter:
    """The same parameters as in the address of a list, `status` from before there were others."""
    query = request.query_params.dict()
    status = query.pop("status", "open")
    if status not in _STATUSES:
        raise InvalidInput("`status` is `open` or `closed`.")
    wanted, ignored = Filter.from_query(query, state=_STATUSES[status])
    if ignored:
        raise InvalidInput(f"These parameters make no sense: {', '.join(ignored)}.")
    return wanted


def _cursor(actor: Actor, after: str) -> Any:
    try:
        return interrupts.interrupt_for(actor, UUID(after))
    except ValueError as error:
        raise InvalidInput("`after` is the id of an interrupt.") from error
