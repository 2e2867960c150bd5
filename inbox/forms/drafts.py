"""The buttons that change a form: more rows, fewer rows, another branch, there or not there."""

from collections.abc import Callable

from django.utils.translation import gettext

from inbox.forms import wording
from inbox.forms.nodes import Node
from inbox.forms.posts import STATES, Posted

_STATE_OF = {"put": "on", "drop": "off", "null": "null"}
_HELD = ("text", "area", "number", "day", "moment", "choice", "select", "json", "many")


def apply_draft(draft: str, posted: Posted, plan: Callable[[], Node]) -> str:
    """
    Change what was posted as the button says; return a sentence if that was not possible.

    A button of another form, or of none, changes nothing.
    """
    verb, _, target = draft.partition(":")
    if verb == "branch":
        place, _, target = target.partition(":")
        if place.isdecimal() or not place:
            posted.put(f"{target}@branch", place)
        return ""
    if verb in _STATE_OF:
        posted.put(f"{target}@on", _STATE_OF[verb])
        return ""
    if verb not in ("add", "remove"):
        return ""
    before = plan()
    if verb == "remove":
        _remove(before, target, posted)
        return ""
    return _add(before, target, posted, plan)


def put_focus(root: Node, draft: str) -> None:
    """Have the browser begin where the button left off."""
    verb, _, target = draft.partition(":")
    if verb == "branch":
        _, _, target = target.partition(":")
    nodes = {node.name: node for node in root.walk()}
    if verb == "remove":
        target = target.rpartition("@" if "@" in target.rpartition("/")[2] else "/")[0]
    found = nodes.get(target)
    if found is None:
        return
    if verb == "add" and found.rows:
        row = found.rows[-1]
        found = row.key or row.node
    fields = [node for node in found.walk() if node.kind in _HELD]
    if fields and verb in ("add", "branch", "put"):
        fields[0].autofocus = True
    else:
        found.autofocus = True


def _add(before: Node, target: str, posted: Posted, plan: Callable[[], Node]) -> str:
    node = next((node for node in before.walk() if node.name == target), None)
    if node is None or not node.takes_rows:
        return ""
    tokens = [row.token for row in node.rows]
    new = max([node.next_token - 1, *tokens]) + 1
    was = {name: posted.text(name) for name in (f"{target}@rows", f"{target}@on")}
    posted.put(f"{target}@rows", ",".join(map(str, [*tokens, new])))
    posted.put(f"{target}@on", STATES[0])
    after = {node.name: node.kind for node in plan().walk()}
    # One row more must not turn a part of the form into JSON, with what was typed there.
    if all(after.get(node.name, node.kind) == node.kind for node in before.walk()):
        return ""
    for name, text in was.items():
        posted.put(name, text or "")
    return gettext(wording.FULL)


def _remove(before: Node, target: str, posted: Posted) -> None:
    for node in before.walk():
        kept = [str(row.token) for row in node.rows if row.node.name != target]
        if len(kept) < len(node.rows):
            posted.put(f"{node.name}@rows", ",".join(kept))
