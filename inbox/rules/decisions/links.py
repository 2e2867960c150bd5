"""Decisions by the link of a mail: which requests have one, and when it ends."""

import hashlib
from datetime import datetime, timedelta
from typing import Any, Final

from inbox.rules.decisions.bulk import BulkCandidate, view_obstacle
from inbox.rules.errors import InvalidPayload, NotByLink
from inbox.rules.policies.eligibility import is_way_named
from inbox.rules.policies.language.policy import Via
from inbox.rules.policies.requirement import MergedRequirement
from inbox.rules.runs.states import Reason
from inbox.rules.schema.schemas import check_answer, named_members
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import is_long, json_text

#: The sign-in method of whoever decides by link, in the audit trail.
LINK_METHOD: Final = "link"
LINK_LIFETIME: Final = timedelta(hours=24)
#: Random bytes of a token.
TOKEN_BYTES: Final = 32
MAX_REASON_CHARACTERS: Final = 2_000
APPROVAL: Final[dict[str, Any]] = {"approved": True}


def rejection(reason: str) -> dict[str, Any]:
    """Return the answer that rejects a request for this reason."""
    return {"approved": False, "reason": reason}


def token_digest(token: str) -> str:
    """Return the sha256 of a token, which is stored in its place."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def link_end(now: datetime, expires_at: datetime | None) -> datetime:
    """Return when a link ends that is issued now for a request with this expiry."""
    end = now + LINK_LIFETIME
    return end if expires_at is None else min(end, expires_at)


def check_via_link(requirement: MergedRequirement | None) -> None:
    """
    Raise unless the policy names links as a way to decide; no policy and no list name none.

    Raises:
        NotByLink.
    """
    if requirement is None or not is_way_named([requirement], Via.LINK):
        raise NotByLink(
            TranslatableMessage("The team's policy does not accept decisions by link any more.")
        )
    if requirement.fresh_sign_in_minutes is not None:
        raise NotByLink(TranslatableMessage("The team's policy requires a sign-in."))


def check_shown_by_link(candidate: BulkCandidate) -> None:
    """
    Raise unless the page of a link shows all of a request, and two buttons answer it.

    Raises:
        NotByLink: something is masked, hidden or folded, or the answer needs a form.
    """
    obstacle = view_obstacle(candidate)
    if obstacle is not None:
        raise NotByLink(obstacle)
    if is_long(json_text(candidate.arguments)) or is_long(_message(candidate)):
        raise NotByLink(
            TranslatableMessage("The request is too long to decide it by link. Open the inbox.")
        )
    if not _has_two_answers(candidate):
        raise NotByLink(
            TranslatableMessage("This request needs more than approval. Review it on its own page.")
        )


def _message(candidate: BulkCandidate) -> str:
    return str(candidate.interrupt.get("message") or "")


def _has_two_answers(candidate: BulkCandidate) -> bool:
    """Return whether an approval and a rejection with a reason are complete answers."""
    schema = candidate.interrupt.get("responseSchema")
    if candidate.reason == Reason.CONFIRMATION:
        if "approved" not in named_members(schema):
            return False
    elif not candidate.approves_call:
        return False
    try:
        for answer in (APPROVAL, rejection("-")):
            check_answer(schema=schema, reason=candidate.reason, payload=answer)
    except InvalidPayload:
        return False
    return True
