"""The messages that a client sends, against those that the thread keeps."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.agui import strict_json
from inbox.rules.errors import HistoryChanged
from inbox.rules.schema.secrets import MASK
from inbox.rules.text.messages import TranslatableMessage

Message = Mapping[str, Any]

#: Activities and reasoning are the agent's, and many clients leave them out.
_SPOKEN = ("user", "assistant", "tool", "system", "developer")
#: Clients make system messages anew for each run.
_COMPARED = ("user", "assistant", "tool")


def check_unchanged(*, stored: Sequence[Message], sent: Sequence[Message]) -> None:
    """
    Raise HistoryChanged if a client sends another text under the id of a stored message.

    A thread keeps what was said, so the agent would run with the earlier text. The beginning of
    an answer is no change: the client may have lost the rest.
    """
    by_id: dict[str, list[Message]] = {}
    for message in stored:
        by_id.setdefault(message["id"], []).append(message)
    for message in sent:
        versions = by_id.get(message["id"], [])
        if versions and not any(_is_same(version, message) for version in versions):
            raise HistoryChanged(
                TranslatableMessage(
                    "The message {id} was changed since it was sent. Threads keep what was said: "
                    "send a new message, or start another thread.",
                    id=message["id"],
                )
            )


def check_not_cut(*, stored: Sequence[Message], sent: Sequence[Message]) -> None:
    """
    Raise HistoryChanged if a client sends nothing new and leaves out the last messages.

    It wants another answer to an earlier message, and would get one to the whole thread.
    """
    ids = {message["id"] for message in stored}
    if not sent or any(message["id"] not in ids for message in sent):
        return
    last = next((each for each in reversed(stored) if each["role"] in _SPOKEN), None)
    if last is not None and last["id"] not in {message["id"] for message in sent}:
        raise HistoryChanged(
            TranslatableMessage(
                "The messages end before those of the thread. Threads keep what was said, so "
                "nothing is generated anew: send a new message, or start another thread."
            )
        )


def _is_same(stored: Message, sent: Message) -> bool:
    if stored["role"] not in _COMPARED:
        return True
    if stored["role"] != sent["role"]:
        return False
    stored_content, content = _content(stored), _content(sent)
    if isinstance(stored_content, str) and isinstance(content, str):
        if stored["role"] == "tool":
            return is_same_result(stored_content, content)
        is_answer = stored["role"] == "assistant"
        # A client without access to secrets has read, and sends, a mask.
        is_masked = MASK in content
        return stored_content == content or (
            is_answer and (is_masked or stored_content.startswith(content))
        )
    return bool(stored_content == content) or (stored["role"] == "tool" and MASK in str(content))


def is_same_result(stored: str, sent: str) -> bool:
    """Return True unless a client sends another result; it may be masked, or written anew."""
    return stored == sent or MASK in sent or _json_value(stored) == _json_value(sent)


def _json_value(text: str) -> Any:
    """Return a result as a value; many clients write the JSON of what they have parsed."""
    try:
        return strict_json.loads(text)
    except ValueError:
        return text


def _content(message: Message) -> Any:
    """Return the text, also of a single part, or the parts without absent members."""
    content = message.get("content")
    if not isinstance(content, list):
        return (content or "").strip()
    parts = [_without_nulls(part) for part in content]
    is_text = len(parts) == 1 and parts[0].get("type") == "text"
    return str(parts[0].get("text", "")).strip() if is_text else parts


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _without_nulls(member) for name, member in value.items() if member is not None
        }
    return value
