"""The base of framework adapters: ids, events, decisions and tool calls of one run."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, RunAgentInput
from jsonschema.exceptions import best_match
from pydantic_core import to_jsonable_python

from agents.adapters.background_loop import framework_loop
from agents.agui.strict_json import dumps, dumps_arguments
from agents.json_schema import schema_violations
from agents.port import Effect, InterruptAnswer, RunContext, ToolRefused
from agents.sdk.context import ToolError, tool_call_events
from agents.sdk.expiry import (
    TEAM_DEFAULT,
    ExpiresIn,
    expiry_field,
    first_specified,
    parse_expires_in,
)
from agents.sdk.schemas import approval_schema_for
from agents.sdk.tool_execution import (
    allows_call,
    error_text,
    refusal_result,
)
from agents.sdk.tools import MAX_OUTPUT_CHARACTERS
from agents.storable import storable, storable_text

_log = logging.getLogger(__name__)

#: The result of a call that will not be decided any more.
CALL_NOT_MADE = "The call was not made."
#: The key for "read", "idempotent" or "once" in a tool's metadata.
EFFECT = "effect"


class UnusableAgent(Exception):
    """The target is not an agent, or its input is missing; the text is shown with the run."""


class RunEnding(RuntimeError):
    """The run is about to end; no further call is executed."""


@dataclass(frozen=True)
class FrameworkCall:
    """A tool call that a framework executes."""

    call_id: str  #: the framework's
    name: str
    args: Mapping[str, Any]
    effect: Effect
    function: Callable[[], Awaitable[Any]]
    schema: Mapping[str, Any] | None = None  #: of `args`; None if the framework checks them
    harmless: tuple[type[Exception], ...] = ()  #: like ToolError: the call had no effect
    pausing: tuple[type[Exception], ...] = ()  #: the call interrupts, and will begin again


@dataclass(frozen=True)
class InterruptDecision:
    """The decision on an interrupt of the framework."""

    answer: InterruptAnswer
    call_id: str | None  #: the framework's id of the tool call

    @property
    def is_cancelled(self) -> bool:
        return self.answer.resume_entry.status == "cancelled"

    @property
    def allows_call(self) -> bool:
        """True if the call was approved, or its interrupt was answered."""
        return allows_call(self.answer)

    @property
    def is_approval(self) -> bool:
        """True if the interrupt was an approval, not a request for input."""
        return self.answer.interrupt.reason == "tool_call"

    @property
    def payload(self) -> Any:
        """The answer; None if cancelled."""
        return self.answer.resume_entry.payload

    @property
    def args(self) -> dict[str, Any]:
        """The approved arguments."""
        return dict(self.answer.proposal.args) if self.answer.proposal else {}

    @property
    def refusal_text(self) -> str:
        """The text for the model that says why the call was not executed."""
        if self.is_cancelled:
            return "The call was cancelled."
        reason = self.payload.get("reason") if isinstance(self.payload, dict) else None
        return f"The call was denied: {reason}" if reason else "The call was denied."


class FrameworkRun:
    """
    One run of a framework's agent.

    The framework runs in `framework_loop`; its methods may be called from there. They take the
    framework's ids and map each to an id that is unique to the run. `stored_state` is the
    framework's state of the last run on this thread.
    """

    def __init__(self, run_input: RunAgentInput, ctx: RunContext) -> None:
        memory = ctx.memory or {}
        self.run_input = run_input
        self.ctx = ctx
        self._results = {
            message.tool_call_id: result_content(message.content)
            for message in run_input.messages
            if isinstance(message, agui.ToolMessage)
        }
        self._engine = asyncio.get_running_loop()
        self._queue: asyncio.Queue[BaseEvent | Future[None] | None] = asyncio.Queue()
        self._ours: dict[str, str] = memory.get("calls", {})  # framework's id -> ours
        self._finished_calls: set[str] = set()
        self._running_calls: set[str] = set()
        self._names: dict[str, str] = {}  # of the tools that were proposed or called
        self._expiries: dict[str, ExpiresIn] = {}  # by the names of tools
        self._message: str | None = None
        self._carrier: str | None = None  # the message that the calls of this answer are in
        self._counts: dict[str, int] = {}
        self._interrupts: list[Interrupt] = []
        #: The run ends as cancelled: it cannot continue without a cancelled decision.
        self.is_cancelled = False
        #: Why the run ends, whatever the framework makes of it; no further call is executed.
        self.end_reason = ""
        self._passed_on: list[str] = memory.get("heard", [])
        self.stored_state: Any = memory.get("kept")
        framework_ids = {ours: name for name, ours in self._ours.items()}
        self.decisions = [
            InterruptDecision(answer, framework_ids.get(answer.interrupt.tool_call_id or ""))
            for answer in ctx.answers
        ]
        self._approved: dict[str, dict[str, Any]] = {}
        for decision in self.decisions:
            if decision.call_id is not None and decision.answer.proposal is not None:
                self._names[decision.call_id] = decision.answer.proposal.name
                if decision.allows_call:
                    self._approved[decision.call_id] = decision.args

    def take_new_messages(self) -> list[tuple[str, str]]:
        """
        Return the messages that the framework lacks, as (role, text), and mark them as passed on.

        They are user messages, and the calls of failed runs between them. A failed run saved no
        state, and a model that does not know of a call would repeat it.
        """
        new_messages: list[tuple[str, str]] = []
        for message in self.run_input.messages:
            if isinstance(message, agui.UserMessage) and message.id not in self._passed_on:
                new_messages.append(("user", _user_text(message)))
            elif isinstance(message, agui.AssistantMessage) and new_messages:
                new_messages += [
                    ("assistant", _describe_call(call, self._results.get(call.id)))
                    for call in message.tool_calls or ()
                ]
        self._passed_on = [
            message.id
            for message in self.run_input.messages
            if isinstance(message, agui.UserMessage)
        ]
        return new_messages

    def append_text(self, delta: str) -> None:
        """Append text to the open message, or to a new one."""
        if not delta:
            return
        if self._message is None:
            self._message = self._carrier = self._new_id("m")
            self._put(agui.TextMessageStartEvent(message_id=self._message, role="assistant"))
        text = storable_text(delta)
        self._put(agui.TextMessageContentEvent(message_id=self._message, delta=text))

    def end_message(self) -> None:
        """End the open message, if there is one."""
        if self._message is not None:
            self._put(agui.TextMessageEndEvent(message_id=self._message))
            self._message = None

    def register_tool(self, name: str, metadata: Mapping[str, Any] | None) -> None:
        """Record the expiry in a tool's metadata."""
        self._expiries[name] = parse_expires_in(metadata)

    def propose(self, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        """Emit a proposed tool call, unless it was emitted already."""
        if call_id in self._ours or call_id in self._finished_calls:
            return
        self.end_message()
        ours = self._ours[call_id] = self._new_id("t")
        self._names[call_id] = name
        # Without text the first call's id is the message id, as in clients.
        self._carrier = self._carrier or ours
        arguments = dumps_arguments(arguments_of(args))
        tool_name = storable_text(name)[:200] or "?"
        for event in tool_call_events(ours, tool_name, arguments, self._carrier):
            self._put(event)

    def approved_arguments(
        self, call_id: str, name: str, args: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """
        Return the approved arguments of a call, else the arguments of the model.

        Raises:
            RunEnding: another call of the same answer has this id.
        """
        if call_id in self._finished_calls or self._names.setdefault(call_id, name) != name:
            self.end_reason = f"{name} is not called: another call has its id."
            raise RunEnding(self.end_reason)
        return self._approved.get(call_id, args)

    def forget_calls(self) -> None:
        """
        Forget the framework's ids of all calls before its model answers.

        Every call has its result by then, and some models reuse ids: the same id is then another
        call, which is not approved.
        """
        self._ours, self._finished_calls, self._carrier = {}, set(), None
        self._approved, self._names = {}, {}

    def forget_result(self, call_id: str) -> None:
        """Forget a finished call, because the model reuses its id."""
        self._finished_calls.discard(call_id)

    def add_result(self, call_id: str, content: str) -> None:
        """Emit the result of a call; only the first result counts."""
        ours = self._ours.pop(call_id, None)
        if ours is None:
            return
        self._finished_calls.add(call_id)
        self._carrier = None  # later text and calls belong to another answer
        self._put(
            agui.ToolCallResultEvent(
                message_id=self._new_id("r"), tool_call_id=ours, content=content, role="tool"
            )
        )

    def add_refusal(self, decision: InterruptDecision) -> None:
        """Emit the result of a call that was denied or cancelled."""
        if decision.call_id is not None:
            self.add_result(decision.call_id, refusal_result(decision.answer))

    def take_decision(self, call_id: str) -> InterruptDecision | str:
        """
        Return the decision that allows a call, else the text for the model that says why not.

        Emit the result of a call that is not executed: its answer, or its refusal.
        """
        decision = next((item for item in self.decisions if item.call_id == call_id), None)
        if decision is None:
            return CALL_NOT_MADE
        if not decision.allows_call:
            self.add_refusal(decision)
            return decision.refusal_text
        if not decision.is_approval:
            self.add_result(call_id, result_content(decision.payload))
        return decision

    async def call_tool(self, call: FrameworkCall) -> Any:
        """
        Call a tool's function between two journal entries, and emit its result.

        Exceptions of the function are raised again; harmless ones and `ToolError` become the
        result. Arguments that do not fit the schema become an error result and a ToolError. The
        run ends, whatever the framework does, if a `once` tool raises anything else, if the
        journal refuses the call, or if another call with its id is running.
        """
        if call.call_id in self._running_calls:  # some frameworks run all calls of an answer
            self.end_reason = f"{call.name} is not called: another call has its id."
        if self.end_reason:
            raise RunEnding(self.end_reason)
        self._running_calls.add(call.call_id)
        try:
            if call.call_id not in self._ours:
                self._finished_calls.discard(call.call_id)
                self.propose(call.call_id, call.name, call.args)
            problem = argument_error(call.args, call.schema) if call.schema else ""
            if problem:
                self.add_result(call.call_id, dumps({"ok": False, "error": problem}))
                raise ToolError(problem)
            return await self._execute(call)
        finally:
            self._running_calls.discard(call.call_id)

    async def _execute(self, call: FrameworkCall) -> Any:
        """Begin, execute and settle a proposed call."""
        await self.flush()
        if self.end_reason:
            raise RunEnding(self.end_reason)
        ours, journal = self._ours[call.call_id], self.ctx.journal
        try:
            begin = journal.begin(ours, args=arguments_of(call.args), effect=call.effect)
            permit = await self._in_engine_loop(begin)
        except ToolRefused as error:
            self.end_reason = f"{call.name} is not called: {error}"
            raise
        if permit.result is not None:
            self.add_result(call.call_id, permit.result)
            return permit.result
        try:
            value = await call.function()
        except call.pausing:
            await self._in_engine_loop(journal.undo_begin(ours))
            raise
        except BaseException as error:
            self.ctx.report_error(error)
            had_no_effect = isinstance(error, (ToolError, *call.harmless))
            if not had_no_effect and (
                call.effect is Effect.ONCE or not isinstance(error, Exception)
            ):
                _log.exception("The tool %s failed in call %s.", call.name, ours)
                self.end_reason = f"{call.name} failed, and its effect is not known."
                raise
            text = error_text(error) if had_no_effect else type(error).__name__
            await self._settle(call.call_id, dumps({"ok": False, "error": text}))
            raise
        await self._settle(call.call_id, result_content(value))
        return value

    def add_interrupt(
        self,
        message: str,
        *,
        call_id: str | None = None,
        reason: str = "input_required",
        response_schema: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        expires_at: str = "",
    ) -> str:
        """
        Add an interrupt after the framework has paused; return its id.

        The expiry is `expires_at`, else `expires_in`, else that of `metadata`, else that of the
        tool's metadata.
        """
        tool = self._names.get(call_id or "", "")
        expiry = first_specified(
            expires_in, parse_expires_in(metadata), self._expiries.get(tool, TEAM_DEFAULT)
        )
        interrupt = Interrupt(
            id=self._new_id("i"),
            reason=reason,
            message=storable_text(message),
            tool_call_id=self._ours[call_id] if call_id is not None else None,
            response_schema=dict(response_schema) if response_schema is not None else None,
            metadata=storable(dict(metadata)) if metadata else None,
            **({"expires_at": expires_at} if expires_at else expiry_field(expiry)),
        )
        self._interrupts.append(interrupt)
        return interrupt.id

    def add_call_interrupt(
        self,
        call_id: str,
        name: str,
        args: Mapping[str, Any],
        *,
        is_approval: bool,
        words: Mapping[str, Any],
        arguments: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Propose a call and add its interrupt: for its approval, or for its result.

        `words` may have the `message`, and the `response_schema` of a result. `arguments` is the
        schema of the call's arguments, None if they cannot be edited.
        """
        if is_approval:
            reason, default = "tool_call", f"Call {name}?"
            schema: Any = approval_schema_for(arguments)
        else:
            reason, default = "input_required", question_from_args(args, f"Answer {name}.")
            schema = words.get("response_schema") or {"type": "string"}
        self.propose(call_id, name, args)
        self.add_interrupt(
            str(words.get("message") or default),
            call_id=call_id,
            reason=reason,
            response_schema=schema,
            metadata=metadata,
        )

    def result_in_thread(self, call_id: str) -> str | None:
        """Return the result of a call that an earlier run added to the thread."""
        return self._results.get(self._ours.get(call_id, ""))

    async def flush(self) -> None:
        """Wait until the engine has consumed all events."""
        reached = Future[None]()
        self._put(reached)
        await asyncio.wrap_future(reached)

    async def run(self, work: Coroutine[Any, Any, None]) -> AsyncIterator[BaseEvent]:
        """Run `work` in the framework loop; yield its events and the terminal event."""
        working = asyncio.run_coroutine_threadsafe(self._run_to_end(work), framework_loop())
        working.add_done_callback(lambda _: self._put(None))
        try:
            while (item := await self._queue.get()) is not None:
                if isinstance(item, BaseEvent):
                    yield item
                elif item.set_running_or_notify_cancel():
                    item.set_result(None)
        finally:
            working.cancel()
        try:
            if not self.end_reason:  # else the run fails, whatever the framework did
                working.result()
                yield self._run_finished()
                return
        except UnusableAgent as error:
            self.end_reason = str(error)
        yield agui.RunErrorEvent(message=self.end_reason, code="AGENT_ERROR")

    async def _run_to_end(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        self.end_message()

    def _run_finished(self) -> BaseEvent:
        outcome: agui.RunFinishedOutcome = agui.RunFinishedSuccessOutcome()
        if self._interrupts:
            outcome = agui.RunFinishedInterruptOutcome(interrupts=self._interrupts)
        elif self.is_cancelled:
            outcome = agui.RunFinishedCancelledOutcome()
        # After a successful run, a reused id is another call.
        calls = {} if outcome.type == "success" else self._ours
        self.ctx.save_memory({"kept": self.stored_state, "calls": calls, "heard": self._passed_on})
        return agui.RunFinishedEvent(
            thread_id=self.run_input.thread_id, run_id=self.run_input.run_id, outcome=outcome
        )

    async def _settle(self, call_id: str, content: str) -> None:
        if len(content) > MAX_OUTPUT_CHARACTERS:
            # The call was executed, so it needs a result.
            error = {"ok": False, "error": "OutputTooLarge", "characters": len(content)}
            content = dumps(error)
        await self._in_engine_loop(self.ctx.journal.settle(self._ours[call_id], result=content))
        self.add_result(call_id, content)

    def _put(self, item: BaseEvent | Future[None] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the run is over, and its loop is closed
            self._engine.call_soon_threadsafe(self._queue.put_nowait, item)

    async def _in_engine_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the engine's loop and return its result."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._engine))

    def _new_id(self, kind: str) -> str:
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{self.ctx.run_key}-{kind}{number}"


def tool_effect(metadata: Mapping[str, Any] | None) -> Effect:
    """
    Return the declared effect of a tool, `once` by default.

    Raises:
        ValueError: the effect is unknown.
    """
    return Effect((metadata or {}).get(EFFECT, Effect.ONCE))


def argument_error(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the error of arguments that do not fit their schema, else ""."""
    problem = best_match(schema_violations(schema, arguments_of(args)))
    return f"{problem.json_path.removeprefix('$.')}: {problem.message}"[:500] if problem else ""


def format_message(template: Any, args: Mapping[str, Any]) -> str:
    """Return a template such as "Pay {amount}" with arguments, "" if it does not fit them."""
    try:
        return template.format_map(args) if isinstance(template, str) else ""
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError):
        return ""


def question_from_args(args: Mapping[str, Any], default: str) -> str:
    """Return the question in a call's arguments, under one of its usual names."""
    candidates = [args.get(name) for name in ("question", "message", "prompt")]
    return next((text for text in candidates if isinstance(text, str) and text), default)


def result_content(value: Any) -> str:
    """Return a tool's output as the content of its result: text, or JSON."""
    if isinstance(value, str):
        return storable_text(value)
    return dumps_arguments(storable(value, text=str))


def arguments_of(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON; NaN, NUL and lone surrogates of a model stay as they are."""
    try:
        return dict(to_jsonable_python(dict(args), fallback=str, inf_nan_mode="constants"))
    except ValueError:  # bytes that are not UTF-8, names with a lone surrogate
        return dict(storable(dict(args)))


def _describe_call(call: agui.ToolCall, result: str | None) -> str:
    text = f"I called {call.function.name} with {call.function.arguments}"
    return f"{text}: {result}" if result is not None else f"{text}; its outcome is not known"


def _user_text(message: agui.UserMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(
        part.text for part in message.content if isinstance(part, agui.TextInputContent)
    )
