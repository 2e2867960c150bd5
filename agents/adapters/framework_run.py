"""What an adapter needs between a framework and the engine: ids, events, decisions, effects."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, RunAgentInput
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic_core import to_jsonable_python

from agents.adapters.background_loop import framework_loop
from agents.agui.strict_json import dumps
from agents.port import Effect, InterruptAnswer, RunContext, ToolRefused
from agents.sdk.context import ToolError
from agents.sdk.expiry import (
    TEAM_DEFAULT,
    ExpiresIn,
    first_specified,
    format_expires_at,
    parse_expires_in,
)
from agents.sdk.schemas import approval_schema_for
from agents.sdk.tool_execution import (
    allows_call,
    error_text,
    refusal_result,
    storable_text,
)
from agents.sdk.tools import MAX_OUTPUT_CHARACTERS

_log = logging.getLogger(__name__)

#: For a model: nobody answered, and nobody will any more.
CALL_NOT_MADE = "The call was not made."
#: What a tool says of itself in its framework's metadata: "read", "idempotent" or "once".
EFFECT = "effect"


class RunEnding(RuntimeError):
    """The run is about to end: no further call is made."""


@dataclass(frozen=True)
class InterruptDecision:
    """A person's answer to something that a framework asked."""

    answer: InterruptAnswer
    call_id: str | None  #: the framework's id of the tool call that it is about

    @property
    def interrupt_id(self) -> str:
        return self.answer.interrupt.id

    @property
    def is_cancelled(self) -> bool:
        return self.answer.resume_entry.status == "cancelled"

    @property
    def allows_call(self) -> bool:
        """Whether the call may be made: it was approved, or what it asked for was answered."""
        return allows_call(self.answer)

    @property
    def is_approval(self) -> bool:
        """Whether it was asked if the call may be made, and not for something it needs."""
        return self.answer.interrupt.reason == "tool_call"

    @property
    def payload(self) -> Any:
        """What was answered; None if it was called off."""
        return self.answer.resume_entry.payload

    @property
    def args(self) -> dict[str, Any]:
        """What the call is to be made with, as it was approved."""
        return dict(self.answer.proposal.args) if self.answer.proposal else {}

    @property
    def refusal_text(self) -> str:
        """For a model: why the call was not made."""
        if self.is_cancelled:
            return "The call was called off."
        reason = self.payload.get("reason") if isinstance(self.payload, dict) else None
        return f"The call was denied: {reason}" if reason else "The call was denied."


class FrameworkRun:
    """
    One run of an agent of another framework.

    The framework works in the loop that is its home and speaks here: in its own ids, of which each
    becomes an id that no other run has. `kept` is what it left when it ran before on this thread.
    """

    def __init__(self, run_input: RunAgentInput, ctx: RunContext) -> None:
        memory = ctx.memory or {}
        self._input = run_input
        self._ctx = ctx
        self._engine = asyncio.get_running_loop()
        self._queue: asyncio.Queue[BaseEvent | Future[None] | None] = asyncio.Queue()
        self._ours: dict[str, str] = memory.get("calls", {})  # framework's id -> ours
        self._over: set[str] = set()
        self._making: set[str] = set()
        self._names: dict[str, str] = {}  # of the tools that it calls
        self._wanted: dict[str, str] = {}  # of the tools that were proposed
        self._expiries: dict[str, ExpiresIn] = {}  # by the names of tools
        self._message: str | None = None
        self._carrier: str | None = None  # the message that the calls of this answer are in
        self._counts: dict[str, int] = {}
        self._interrupts: list[Interrupt] = []
        self._is_called_off = False
        self._end = ""  # why the run ends, whatever the framework makes of it
        self._heard: list[str] = memory.get("heard", [])
        self.kept: Any = memory.get("kept")
        theirs = {ours: name for name, ours in self._ours.items()}
        self.decisions = [
            InterruptDecision(answer, theirs.get(answer.interrupt.tool_call_id or ""))
            for answer in ctx.answers
        ]
        self._approved: dict[str, dict[str, Any]] = {}
        for one in self.decisions:
            if one.call_id is not None and one.answer.proposal is not None:
                self._names[one.call_id] = one.answer.proposal.name
                if one.allows_call:
                    self._approved[one.call_id] = one.args

    @property
    def thread_key(self) -> str:
        """No other thread has it."""
        return self._ctx.thread_key

    def take_new_messages(self) -> list[tuple[str, str]]:
        """
        What the framework does not know, as pairs of role and text; from now on it does.

        What users said, and between it the calls that failed runs have made: they kept nothing of
        them, and a model that does not know of a call wants it again.
        """
        results = {
            one.tool_call_id: result_content(one.content)
            for one in self._input.messages
            if isinstance(one, agui.ToolMessage)
        }
        missed: list[tuple[str, str]] = []
        for message in self._input.messages:
            if isinstance(message, agui.UserMessage) and message.id not in self._heard:
                missed.append(("user", _user_text(message)))
            elif isinstance(message, agui.AssistantMessage) and missed:
                missed += [
                    ("assistant", _describe_call(call, results.get(call.id)))
                    for call in message.tool_calls or ()
                ]
        self._heard = [one.id for one in self._input.messages if isinstance(one, agui.UserMessage)]
        return missed

    @property
    def is_ending(self) -> bool:
        """Whether something has happened after which no further call is made."""
        return bool(self._end)

    def append_text(self, delta: str) -> None:
        """Stream some text; it goes on with the message that is open, or opens one."""
        if not delta:
            return
        if self._message is None:
            self._message = self._carrier = self._new_id("m")
            self._put(agui.TextMessageStartEvent(message_id=self._message, role="assistant"))
        self._put(agui.TextMessageContentEvent(message_id=self._message, delta=delta))

    def end_message(self) -> None:
        """End the message that is open, if one is."""
        if self._message is not None:
            self._put(agui.TextMessageEndEvent(message_id=self._message))
            self._message = None

    def register_tool(self, name: str, metadata: Mapping[str, Any] | None) -> None:
        """Note what the author says in a tool's metadata of how long people have for an answer."""
        self._expiries[name] = parse_expires_in(metadata)

    def propose(self, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        """Tell of a tool call that the model wants, unless that is told already."""
        if call_id not in self._ours and call_id not in self._over:
            self._propose(call_id, name, args)

    def arguments_of(self, call_id: str, name: str, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """
        What a call is made with: as it was approved, and as the model wants it otherwise.

        Raises:
            CallsEnded: the id is that of another call of the same answer.
        """
        if call_id in self._over or self._names.setdefault(call_id, name) != name:
            self._end = f"{name} is not called: another call has its id."
            raise RunEnding(self._end)
        return self._approved.get(call_id, wanted)

    def forget_calls(self) -> None:
        """
        Forget the framework's ids of all calls, because its model is about to answer.

        Every call has its result then, and some models count them from the beginning again: the
        same id is another call, which nobody has approved.
        """
        self._ours, self._over, self._carrier = {}, set(), None
        self._approved, self._names = {}, {}

    def forget_result(self, call_id: str) -> None:
        """Forget that there was a call with this id: the model wants another one under it."""
        self._over.discard(call_id)

    def _propose(self, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        self.end_message()
        ours = self._ours[call_id] = self._new_id("t")
        self._wanted[call_id] = name
        # Without a text the first call's id names the message, as clients make one for it.
        self._carrier = self._carrier or ours
        self._put(
            agui.ToolCallStartEvent(
                tool_call_id=ours,
                tool_call_name=name[:200] or "?",
                parent_message_id=self._carrier,
            )
        )
        self._put(agui.ToolCallArgsEvent(tool_call_id=ours, delta=dumps(_jsonable(dict(args)))))
        self._put(agui.ToolCallEndEvent(tool_call_id=ours))

    def add_result(self, call_id: str, content: str) -> None:
        """Tell the result of a call, which is over then; once for each."""
        ours = self._ours.pop(call_id, None)
        if ours is None:
            return
        self._over.add(call_id)
        self._carrier = None  # what is said or wanted now belongs to another answer
        self._put(
            agui.ToolCallResultEvent(
                message_id=self._new_id("r"), tool_call_id=ours, content=content, role="tool"
            )
        )

    def add_refusal(self, decision: InterruptDecision) -> None:
        """Tell that a call was denied or called off."""
        if decision.call_id is not None:
            self.add_result(decision.call_id, refusal_result(decision.answer))

    async def call_tool(
        self,
        call_id: str,
        name: str,
        args: Mapping[str, Any],
        effect: Effect,
        function: Callable[[], Awaitable[Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        harmless: tuple[type[Exception], ...] = (),
        pausing: tuple[type[Exception], ...] = (),
    ) -> Any:
        """
        Call a tool's function between two entries in the journal, and tell its result.

        Arguments that do not fit `schema` are the call's result, and a ToolError. What the function
        raises is raised again. One of `harmless` says that nothing has happened, as
        `ToolError` does, and is the result; one of `pausing` waits for a person, and the call will
        begin again. After anything else that a `once` tool raises the run ends, whatever the
        framework makes of it, and when a call is not one that was approved, with its arguments, or
        comes while another one with its id is made.
        """
        if call_id in self._making:  # some frameworks make all calls of an answer at once
            self._end = f"{name} is not called: another call has its id."
        if self._end:
            raise RunEnding(self._end)
        self._making.add(call_id)
        try:
            if call_id not in self._ours:
                self._propose(call_id, name, args)
            problem = argument_error(args, schema) if schema else ""
            if problem:
                self.add_result(call_id, dumps({"ok": False, "error": problem}))
                raise ToolError(problem)
            return await self._execute(call_id, name, args, effect, function, harmless, pausing)
        finally:
            self._making.discard(call_id)

    async def _execute(
        self,
        call_id: str,
        name: str,
        args: Mapping[str, Any],
        effect: Effect,
        function: Callable[[], Awaitable[Any]],
        harmless: tuple[type[Exception], ...],
        pausing: tuple[type[Exception], ...],
    ) -> Any:
        """Begin a call that was proposed, make it and settle it; see `call`."""
        await self.flush()
        if self._end:
            raise RunEnding(self._end)
        ours = self._ours[call_id]
        try:
            begun = self._ctx.journal.begin(ours, args=_jsonable(dict(args)), effect=effect)
            permit = await self._in_engine_loop(begun)
        except ToolRefused as error:
            self._end = f"{name} is not called: {error}"
            raise
        if permit.result is not None:
            self.add_result(call_id, permit.result)
            return permit.result
        nothing_happened: tuple[type[Exception], ...] = (ToolError, *harmless)
        try:
            value = await function()
        except pausing:
            await self._in_engine_loop(self._ctx.journal.undo_begin(ours))
            raise
        except nothing_happened as error:
            await self._settle(call_id, dumps({"ok": False, "error": error_text(error)}))
            raise
        except BaseException as error:
            if effect is Effect.ONCE or not isinstance(error, Exception):
                _log.exception("The tool %s failed in call %s.", name, ours)
                self._end = f"{name} failed, and nobody knows what it did."
                raise
            await self._settle(call_id, dumps({"ok": False, "error": type(error).__name__}))
            raise
        await self._settle(call_id, result_content(value))
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
    ) -> str:
        """
        Ask a person when the framework has paused; return the id of the interrupt.

        How long they have is in `expires_in` of the metadata of the question or of the tool.
        """
        tool = self._wanted.get(call_id or "", "")
        said = first_specified(
            expires_in, parse_expires_in(metadata), self._expiries.get(tool, TEAM_DEFAULT)
        )
        asked = Interrupt(
            id=self._new_id("i"),
            reason=reason,
            message=message,
            tool_call_id=self._ours[call_id] if call_id is not None else None,
            response_schema=dict(response_schema) if response_schema is not None else None,
            metadata=_jsonable(dict(metadata)) if metadata else None,
            **_expiry_field(said),
        )
        self._interrupts.append(asked)
        return asked.id

    def add_approval(
        self, call_id: str, message: str, arguments: Mapping[str, Any] | None, **more: Any
    ) -> str:
        """Ask whether a call may be made; `arguments` is their schema, None if they are fixed."""
        return self.add_interrupt(
            message,
            call_id=call_id,
            reason="tool_call",
            response_schema=approval_schema_for(arguments),
            **more,
        )

    def add_approval_from_metadata(
        self,
        call_id: str,
        name: str,
        words: Mapping[str, Any],
        arguments: Mapping[str, Any] | None,
    ) -> str:
        """Ask for approval in the `message` of a framework's metadata, which go along."""
        message = str(words.get("message") or f"Call {name}?")
        return self.add_approval(call_id, message, arguments, metadata=words)

    def add_result_interrupt(
        self, call_id: str, name: str, words: Mapping[str, Any], args: Mapping[str, Any]
    ) -> str:
        """Ask for what a call's result is to be, by `message` and `response_schema` of metadata."""
        return self.add_interrupt(
            str(words.get("message") or question_from_args(args, f"Answer {name}.")),
            call_id=call_id,
            response_schema=words.get("response_schema") or {"type": "string"},
            metadata=words,
        )

    def result_in_thread(self, call_id: str) -> str | None:
        """The result of a call that the thread has, from a run that this one knows nothing of."""
        ours = self._ours.get(call_id)
        results = [one for one in self._input.messages if isinstance(one, agui.ToolMessage)]
        return next(
            (result_content(one.content) for one in results if one.tool_call_id == ours), None
        )

    def cancel(self) -> None:
        """End the run as cancelled: a person called off what it cannot go on without."""
        self._is_called_off = True

    async def flush(self) -> None:
        """Wait until the engine has all that was said."""
        reached = Future[None]()
        self._put(reached)
        await asyncio.wrap_future(reached)

    async def run(self, work: Coroutine[Any, Any, None]) -> AsyncIterator[BaseEvent]:
        """Yield what the framework says while it works at home, and the terminal event."""
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
        if self._end:  # what the framework made of it is of no interest
            yield agui.RunErrorEvent(message=self._end, code="AGENT_ERROR")
            return
        working.result()
        yield self._run_finished()

    async def _run_to_end(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        self.end_message()

    def _run_finished(self) -> BaseEvent:
        outcome: agui.RunFinishedOutcome = agui.RunFinishedSuccessOutcome()
        if self._interrupts:
            outcome = agui.RunFinishedInterruptOutcome(interrupts=self._interrupts)
        elif self._is_called_off:
            outcome = agui.RunFinishedCancelledOutcome()
        # Where the conversation goes on behind an end, an id that is used again is another call.
        calls = {} if outcome.type == "success" else self._ours
        self._ctx.save_memory({"kept": self.kept, "calls": calls, "heard": self._heard})
        return agui.RunFinishedEvent(
            thread_id=self._input.thread_id, run_id=self._input.run_id, outcome=outcome
        )

    async def _settle(self, call_id: str, content: str) -> None:
        if len(content) > MAX_OUTPUT_CHARACTERS:
            # The call was made: a result that says so is better than none.
            error = {"ok": False, "error": "OutputTooLarge", "characters": len(content)}
            content = dumps(error)
        await self._in_engine_loop(self._ctx.journal.settle(self._ours[call_id], result=content))
        self.add_result(call_id, content)

    def _put(self, item: BaseEvent | Future[None] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the run is over, and its loop is closed
            self._engine.call_soon_threadsafe(self._queue.put_nowait, item)

    async def _in_engine_loop(self, wish: Coroutine[Any, Any, Any]) -> Any:
        """What the engine does between its turns, in its own loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(wish, self._engine))

    def _new_id(self, kind: str) -> str:
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{self._ctx.run_key}-{kind}{number}"


def _expiry_field(expires_in: ExpiresIn) -> dict[str, Any]:
    """The field that says it: a null that is written says never, none leaves it to the team."""
    if expires_in is TEAM_DEFAULT:
        return {}
    return {"expires_at": None if expires_in is None else format_expires_at(expires_in)}


def tool_effect(metadata: Mapping[str, Any] | None) -> Effect:
    """
    What a second call of a tool would do, as its author says; harm, if nothing is said.

    Raises:
        ValueError: there is no such effect.
    """
    return Effect((metadata or {}).get(EFFECT, Effect.ONCE))


def argument_error(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What is wrong with arguments, "" if nothing is; models often get them wrong."""
    found = best_match(Draft202012Validator(schema).iter_errors(_jsonable(dict(args))))
    return f"{found.json_path.removeprefix('$.')}: {found.message}"[:500] if found else ""


def format_message(template: Any, args: Mapping[str, Any], otherwise: str) -> str:
    """An author's words for a call, such as "Pay {amount}", if arguments can be filled in."""
    if not isinstance(template, str):
        return otherwise
    try:
        return template.format_map(args)
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError):
        return otherwise


def question_from_args(args: Mapping[str, Any], otherwise: str) -> str:
    """The question that a call asks, under the names that are in use for it."""
    asked = [args.get(name) for name in ("question", "message", "prompt")]
    return next((one for one in asked if isinstance(one, str) and one), otherwise)


def result_content(value: Any) -> str:
    """What a tool returned, as the content of its result: text as it is, anything else as JSON."""
    return storable_text(value) if isinstance(value, str) else dumps(_jsonable(value))


def _jsonable(value: Any) -> Any:
    return to_jsonable_python(value, fallback=str)


def _describe_call(call: agui.ToolCall, result: str | None) -> str:
    what = f"I called {call.function.name} with {call.function.arguments}"
    return f"{what}: {result}" if result is not None else f"{what}, and do not know what came of it"


def _user_text(message: agui.UserMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(
        part.text for part in message.content if isinstance(part, agui.TextInputContent)
    )
