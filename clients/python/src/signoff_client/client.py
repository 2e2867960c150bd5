"""The blocking client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload
from uuid import uuid4

from signoff_client import flows
from signoff_client.approvals import Approval, ApprovedFunction, Parameters
from signoff_client.arguments import UnknownArguments
from signoff_client.calls import LeaseKeeper, StartedCall, log, started_call
from signoff_client.errors import EditRefused, SignoffError
from signoff_client.exchanges import Steps
from signoff_client.requests import Request, answer_of, require_approval
from signoff_client.settings import Duration, Settings, read_settings, to_seconds
from signoff_client.transport import Transport

Result = TypeVar("Result")

LEASE_SECONDS = 600


class Signoff:
    """
    Asks people in Signoff; may be shared by threads.

    Without arguments it reads SIGNOFF_URL, SIGNOFF_API_KEY and SIGNOFF_AGENT, or the credentials
    file.
    """

    def __init__(self, url: str = "", api_key: str = "", *, agent: str = "") -> None:
        self._settings: Settings = read_settings(url, api_key, agent)
        self._transport = Transport(self._settings)

    def create_request(
        self, *, key: str = "", items: Sequence[Mapping[str, Any]] = (), **members: Any
    ) -> Request:
        """
        Ask, and return at once.

        `members` are those of `POST /api/requests`: title, tool, args, why, may_edit, expires_in,
        session ... With the same `key` it returns the request that was created before.
        """
        defaults = {"agent": self._settings.agent} if self._settings.agent else {}
        return self._run(flows.create(flows.request_members(defaults, members, items), key=key))

    def ask(
        self,
        question: str,
        *,
        schema: Mapping[str, Any] | None = None,
        wait: Duration = None,
        key: str = "",
        **members: Any,
    ) -> Any:
        """
        Ask a question and return the answer: True or False, or what `schema` describes.

        Raises:
            Pending: there is no answer after `wait`; ask with the same `key` to go on waiting.
            Denied, Expired, Withdrawn: there will be no answer.
        """
        if schema is not None:
            members["answer_schema"] = schema
        request = self.create_request(key=key, title=question, **members)
        request = self.wait(request, wait)
        return answer_of(request, request.item)

    def get(self, request_id: str) -> Request:
        return self._run(flows.get(request_id))

    def get_run(self, run_id: str) -> Mapping[str, Any]:
        return self._run(flows.get_run(run_id))

    def list(self, **filters: str) -> list[Request]:
        """Return the newest requests, by session, status or agent."""
        return self._run(flows.list_requests(filters))

    def wait(self, request: Request | str, timeout: Duration = None) -> Request:
        """
        Wait until a request, or the one with this id, is decided or ends.

        Raises:
            Pending: it is still open after `timeout`; wait for its id again, from any process.
        """
        if isinstance(request, Request) and not request.is_open:
            return request
        request_id = request.id if isinstance(request, Request) else request
        return self._run(flows.wait(request_id, to_seconds(timeout)))

    def withdraw(self, request_id: str, reason: str = "") -> Request:
        return self._run(flows.withdraw(request_id, reason))

    @contextmanager
    def start(
        self,
        request: Request,
        item_id: str | None = None,
        *,
        effect: str = "once",
        lease_seconds: int = LEASE_SECONDS,
    ) -> Iterator[StartedCall]:
        """
        Use up an approval for the block, and report what becomes of it: success, or an exception.

        Raises:
            Denied, Expired, Withdrawn, Lapsed, InDoubt, AlreadyStarted: the block does not run.
        """
        call = self.start_call(request, item_id, effect=effect, lease_seconds=lease_seconds)
        try:
            with LeaseKeeper(lambda: self.prolong(call), lease_seconds):
                yield call
        except BaseException as error:
            self._report(call.report_error(error))
            raise
        self._report(call.report("succeeded"))

    def start_call(
        self,
        request: Request,
        item_id: str | None = None,
        *,
        effect: str = "once",
        lease_seconds: int = LEASE_SECONDS,
    ) -> StartedCall:
        """Use up an approval; run `call.args` then, and report with `report` how it ended."""
        item = request.find(item_id)
        require_approval(request, item)
        attempt = str(uuid4())
        answer = self._run(flows.start(request, item, attempt, lease_seconds=lease_seconds))
        return started_call(
            request, item, attempt, answer, effect=effect, lease_seconds=lease_seconds
        )

    def prolong(self, call: StartedCall) -> None:
        """Prolong the lease of a call that was started with `start_call`."""
        self._run(call.prolong())

    def report(
        self, request_id: str, item_id: str, attempt: str, outcome: str, **more: Any
    ) -> Mapping[str, Any]:
        """Report "succeeded", "failed" (it had no effect) or "unknown"."""
        return self._run(flows.report(request_id, item_id, attempt, outcome, **more))

    @overload
    def requires_approval(
        self, function: Callable[Parameters, Result], /
    ) -> ApprovedFunction[Parameters, Result]: ...

    @overload
    def requires_approval(
        self, /, **options: Any
    ) -> Callable[[Callable[Parameters, Result]], ApprovedFunction[Parameters, Result]]: ...

    def requires_approval(
        self, function: Callable[..., Any] | None = None, /, **options: Any
    ) -> Any:
        """
        Have each call of a function approved: it runs with the arguments that were approved.

        `options` are those of `Approval`: effect="once" or "idempotent", may_edit, tool, title,
        why, wait, expires_in, lease_seconds. Call `function.with_key(key)(...)` with an
        idempotency key of your own for a call that goes on waiting after a crash.
        """

        def decorate(function: Callable[..., Any]) -> Any:
            approval = Approval(function, **options)

            def call(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                return self._call(approval, key, args, kwargs)

            return approval.wrap(call)

        return decorate if function is None else decorate(function)

    def _call(
        self, approval: Approval, key: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        members = approval.members(args, kwargs)
        request = self.wait(self.create_request(key=key, **members), approval.wait)
        call = self.start_call(
            request, effect=approval.effect, lease_seconds=approval.lease_seconds
        )
        try:
            run = approval.bind(call.args)
        except UnknownArguments as error:
            self._report(call.report("failed", error=str(error)))
            raise EditRefused(f"Not run: {error}", request, request.item) from error
        try:
            with LeaseKeeper(lambda: self.prolong(call), approval.lease_seconds):
                result = run()
        except BaseException as error:
            self._report(call.report_error(error))
            raise
        self._report(call.report("succeeded", result=result, executed_args=dict(call.args)))
        return result

    def _report(self, steps: Steps[Any]) -> None:
        """Report what has happened; a failure to do so must not hide it from the caller."""
        try:
            self._run(steps)
        except SignoffError as error:
            log.warning("A call ended, and Signoff could not be told how: %s", error)

    def _run(self, steps: Steps[Result]) -> Result:
        return self._transport.run(steps)
