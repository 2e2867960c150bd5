"""Translation of a graph's interrupts into ours, and of decisions into its answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import Interrupt
from pydantic import TypeAdapter

from agents.adapters.framework_run import FrameworkRun, InterruptDecision, result_content
from agents.adapters.langgraph.tool_calls import CallPause
from agents.agui.interrupts import takes_approval
from agents.agui.legacy.dialects import common_fields, interrupt_fields
from agents.agui.legacy.human_in_the_loop import (
    CancellationUnsupported,
    build_answer,
    build_decision,
    build_message,
    parse_actions,
    parse_wrapped_action,
    restrict_approval,
    takes_text_only,
    unwrap,
)
from agents.agui.legacy.legacy_answers import CALLED_OFF
from agents.agui.legacy.reported_calls import is_same_json
from agents.json_schema import schema_violations
from agents.sdk.expiry import parse_expires_in
from agents.sdk.schemas import approval_schema_for
from agents.storable import storable

Json = dict[str, Any]
#: The message of an interrupt that brings none.
_NO_WORDS = "The agent asks for an answer."
#: The calls without a result: id -> (name, arguments).
OpenCalls = Mapping[str, tuple[str, Json]]


class UnknownToolCall(RuntimeError):
    """The middleware asks about a tool call that no model proposed."""


@dataclass(frozen=True)
class PendingInterrupt:
    """An interrupt of a graph; stored as JSON until it is answered."""

    id: str  #: LangGraph's name for it; "" for a breakpoint
    asked: list[str]  #: a stored key: our interrupt ids, in the order of the actions
    schema: Any = None  #: of the answer, as the graph declares it
    call_id: str | None = None  #: the tool call that raised it
    #: the calls of the middleware: {"name", "args", "allowed"}
    actions: list[Json] | None = None
    is_batch: bool = False  #: the answer is a list of decisions
    form: str = ""  #: of the answer, if the graph asks as the older agent inbox reads it
    #: `call_id` raised it itself, so it gets the answer; None in states of earlier versions
    is_of_call: bool | None = None
    is_in_graph: bool = True  #: LangGraph has it; of several calls in one task it has the first


class InterruptBuilder:
    """Adds interrupts to the run for those of the graph."""

    def __init__(
        self, framework_run: FrameworkRun, calls: OpenCalls, tools: Mapping[str, BaseTool]
    ) -> None:
        self._framework_run = framework_run
        self._calls = calls
        self._tools = tools
        self._matched_calls: set[str] = set()
        for name, tool in tools.items():
            framework_run.register_tool(name, tool.metadata)

    def add_interrupt(
        self, interrupt: Interrupt[Any], raised_by: CallPause | None, *, is_in_graph: bool = True
    ) -> PendingInterrupt:
        """
        Add an interrupt; `raised_by` is the pause of the tool call whose function raised it.

        Raises:
            UnknownToolCall.
        """
        value = storable(interrupt.value)
        actions = parse_actions(value)
        if actions and (form := actions[0].get("form")):
            pending = self._add_inbox_interrupts(interrupt, actions, form)
        elif (action := parse_wrapped_action(value)) is not None:
            call_id = self._call_of(action, f"{interrupt.id}-call")
            name = self._framework_run.add_interrupt(
                _NO_WORDS, call_id=call_id, metadata={"langgraph": action}
            )
            pending = PendingInterrupt(interrupt.id, [name])
        else:
            return self._add_own(interrupt, unwrap(value), raised_by, is_in_graph=is_in_graph)
        return _with_caller(pending, raised_by, is_in_graph=is_in_graph)

    def _add_inbox_interrupts(
        self, interrupt: Interrupt[Any], actions: list[Json], form: str
    ) -> PendingInterrupt:
        names = [
            self._add_action_interrupt(
                self._call_of(action, f"{interrupt.id}-call{number}"), action, {}
            )
            for number, action in enumerate(actions, start=1)
        ]
        return PendingInterrupt(interrupt.id, names, actions=actions, form=form)

    def _call_of(self, action: Json, new_id: str) -> str:
        """Return the id of the call of an action, which is proposed if no model did."""
        try:
            return self._find_call(action)
        except UnknownToolCall:
            self._framework_run.propose(new_id, action["name"], action["args"])
            return new_id

    def _add_own(
        self,
        interrupt: Interrupt[Any],
        value: Any,
        raised_by: CallPause | None,
        *,
        is_in_graph: bool,
    ) -> PendingInterrupt:
        """Add the interrupts of LangChain's middlewares, or that of any other value."""
        fields = value if isinstance(value, dict) else {}
        if isinstance(requests := fields.get("action_requests"), list):
            configs = {action["action_name"]: action for action in fields["review_configs"]}
            actions = [
                {**action, "allowed": configs[action["name"]]["allowed_decisions"]}
                for action in requests
            ]
            interrupt_ids = [
                self._add_action_interrupt(self._find_call(action), action, fields)
                for action in actions
            ]
            return PendingInterrupt(interrupt.id, interrupt_ids, actions=actions, is_batch=True)
        if fields.get("type") == "tool_approval":
            action = {**fields, "allowed": _allowed(interrupt.response_schema)}
            call_id = action["tool_call_id"]
            self._framework_run.propose(call_id, action["name"], action["args"])
            interrupt_ids = [self._add_action_interrupt(call_id, action, fields)]
            pending = PendingInterrupt(interrupt.id, interrupt_ids, actions=[action])
        else:
            caller = raised_by.call_id if raised_by else None
            pending = self._add_plain_interrupt(interrupt, value, caller)
        return _with_caller(pending, raised_by, is_in_graph=is_in_graph)

    def add_breakpoint(self, nodes: Sequence[str]) -> PendingInterrupt:
        """Add an interrupt for a breakpoint of the graph."""
        interrupt_id = self._framework_run.add_interrupt(
            f"Go on with {', '.join(nodes)}?",
            reason="confirmation",
            response_schema=approval_schema_for(None),
        )
        return PendingInterrupt("", [interrupt_id])

    def _add_plain_interrupt(
        self, interrupt: Interrupt[Any], value: Any, raised_by: str | None
    ) -> PendingInterrupt:
        fields = value if isinstance(value, dict) else {}
        wire_fields = interrupt_fields(value, "langgraph")
        reason, message = (
            wire_fields["reason"],
            wire_fields.get("message", _NO_WORDS),
        )
        schema: Any = interrupt.response_schema or wire_fields.get("responseSchema")
        if reason == "tool_call" and raised_by is not None and raised_by in self._calls:
            schema = schema or approval_schema_for(self._arguments(*self._calls[raised_by]))
        elif reason == "tool_call":
            reason = "confirmation"
        elif reason == "langgraph:interrupt" and schema:
            reason = "input_required"
        name = self._framework_run.add_interrupt(
            message,
            call_id=raised_by,
            reason=reason,
            response_schema=schema,
            metadata=wire_fields["metadata"],
            **_expiry(fields),
        )
        declared = interrupt.response_schema or common_fields(fields).get("responseSchema")
        return PendingInterrupt(interrupt.id, [name], schema=declared, call_id=raised_by)

    def _add_action_interrupt(self, call_id: str, action: Json, value: Json) -> str:
        name, args, allowed = action["name"], action["args"], action["allowed"]
        if takes_text_only(allowed):
            reason, schema = "input_required", {"type": "string", "minLength": 1}
        else:
            approval = approval_schema_for(self._arguments(name, args))
            reason, schema = "tool_call", restrict_approval(approval, allowed)
        return self._framework_run.add_interrupt(
            build_message(action),
            call_id=call_id,
            reason=reason,
            response_schema=schema,
            metadata={"langgraph": {"allowed_decisions": allowed}},
            **_expiry(value),
        )

    def _find_call(self, action: Json) -> str:
        """Return the id of the model's call with the action's name and arguments."""
        for call_id, (name, args) in self._calls.items():
            is_it = name == action["name"] and is_same_json(args, action["args"])
            if is_it and call_id not in self._matched_calls:
                self._matched_calls.add(call_id)
                return call_id
        raise UnknownToolCall(f"No model proposed {action['name']} with these arguments.")

    def _arguments(self, name: str, args: Json) -> Json:
        """Return the schema of a tool's arguments; one that allows any if the tool is unknown."""
        tool = self._tools.get(name)
        if tool is None:
            return {"properties": {argument: {} for argument in args}}
        schema = tool.tool_call_schema
        return schema if isinstance(schema, dict) else TypeAdapter(schema).json_schema()


def _with_caller(
    pending: PendingInterrupt, raised_by: CallPause | None, *, is_in_graph: bool
) -> PendingInterrupt:
    return replace(
        pending,
        call_id=raised_by.call_id if raised_by else None,
        is_of_call=raised_by is not None and raised_by.is_own,
        is_in_graph=is_in_graph,
    )


def build_answers(
    pending_interrupts: Iterable[PendingInterrupt], decisions: Sequence[InterruptDecision]
) -> Json:
    """
    Return the answers by LangGraph's interrupt id.

    Raises:
        CancellationUnsupported.
    """
    by_id = {decision.answer.interrupt.id: decision for decision in decisions}
    answers: Json = {}
    for pending in pending_interrupts:
        group = [by_id[name] for name in pending.asked]
        if pending.actions is None:
            answers[pending.id] = _answer(pending, group[0])
            continue
        graph_decisions = [
            build_decision(
                name=action["name"],
                args=decision.args,
                allowed=action["allowed"],
                payload=decision.payload,
                is_cancelled=decision.is_cancelled,
                form=pending.form,
            )
            for decision, action in zip(group, pending.actions, strict=True)
        ]
        is_single = not pending.is_batch and not pending.form
        answers[pending.id] = (
            graph_decisions[0] if is_single else build_answer(graph_decisions, pending.form)
        )
    return answers


def replacement_result(decision: InterruptDecision) -> str | None:
    """Return the response that replaces the tool's result, None if there is none."""
    payload = decision.payload
    if decision.answer.interrupt.reason != "tool_call":
        return payload if isinstance(payload, str) else None
    response = payload.get("response") if isinstance(payload, dict) else None
    return response if isinstance(response, str) and response else None


def tools_of(graph: Pregel[Any, Any, Any, Any]) -> dict[str, BaseTool]:
    """Return the tools of a graph and its subgraphs, by name."""
    graphs = [graph, *(subgraph for _, subgraph in graph.get_subgraphs(recurse=True))]
    nodes = [
        node.bound
        for subgraph in graphs
        if isinstance(subgraph, Pregel)
        for node in subgraph.nodes.values()
    ]
    tools_by_node = [node.tools_by_name for node in nodes if isinstance(node, ToolNode)]
    return {name: tool for tools in tools_by_node for name, tool in tools.items()}


def _answer(pending: PendingInterrupt, decision: InterruptDecision) -> Any:
    payload = decision.payload
    if not pending.id and not (isinstance(payload, dict) and payload.get("approved") is True):
        raise CancellationUnsupported
    if not decision.is_cancelled:
        return payload
    # A cancelled tool is not called again. A node is, and may only test the answer for truth, so
    # its schema must say that it reads `approved`.
    if pending.call_id is None and not _reads_approval(pending.schema):
        raise CancellationUnsupported
    return dict(CALLED_OFF)


def _reads_approval(schema: Any) -> bool:
    return takes_approval(schema) and not any(schema_violations(schema, CALLED_OFF))


def _expiry(value: Json) -> Json:
    """Return the expiry of an interrupt value, as arguments of `add_interrupt`."""
    expires_at = common_fields(value).get("expiresAt", "")
    return {"expires_at": expires_at, "expires_in": parse_expires_in(value)}


def _allowed(schema: Any) -> list[str]:
    """Return the decisions that the response schema allows."""
    fields = schema if isinstance(schema, dict) else {}
    by_name = fields.get("discriminator", {}).get("mapping")
    if by_name:
        return list(by_name)
    return [result_content(fields.get("properties", {}).get("type", {}).get("const"))]
