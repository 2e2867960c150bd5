"""Form buttons that add or remove rows, choose a branch, or set and unset optional parts."""

from collections.abc import Callable

from django.utils.translation import gettext

from inbox.forms import labels
from inbox.forms.form_nodes import Node
from inbox.forms.submission import STATES, Submission
from inbox.forms.values import name_part

_STATES_BY_VERB = {"put": "on", "drop": "off", "null": "null"}
_INPUT_KINDS = ("text", "area", "number", "day", "moment", "choice", "select", "json", "many")


def apply_draft(draft: str, submission: Submission, plan: Callable[[], Node]) -> str:
    """
    Change the submission as the button says; return an error text if that is not possible.

    Unknown buttons, such as those of another form, change nothing.
    """
    verb, _, target = draft.partition(":")
    if verb == "branch":
        number, _, target = target.partition(":")
        if number.isdecimal() or not number:
            submission.put(f"{target}@branch", number)
        return ""
    if verb in _STATES_BY_VERB:
        submission.put(f"{target}@on", _STATES_BY_VERB[verb])
        return ""
    if verb == "clear":
        submission.put(target, "")
        return ""
    if verb not in ("add", "remove"):
        return ""
    before = plan()
    if verb == "remove":
        _remove(before, target, submission)
        return ""
    return _add(before, target, submission, plan)


def set_focus(root: Node, draft: str) -> None:
    """Focus the first field that the button has added, or the part that it has changed."""
    verb, _, target = draft.partition(":")
    if verb == "branch":
        _, _, target = target.partition(":")
    if verb == "edit":
        target = f"{root.name}/{name_part(target)}"
    nodes = {node.name: node for node in root.walk()}
    if verb == "remove":
        target = target.rpartition("@" if "@" in target.rpartition("/")[2] else "/")[0]
    target_node = nodes.get(target)
    if target_node is None:
        return
    if verb == "add" and target_node.rows:
        row = target_node.rows[-1]
        target_node = row.key or row.node
    fields = [node for node in target_node.walk() if node.kind in _INPUT_KINDS]
    if fields and verb in ("add", "branch", "put", "edit"):
        fields[0].autofocus = True
    else:
        target_node.autofocus = True


def _add(before: Node, target: str, submission: Submission, plan: Callable[[], Node]) -> str:
    node = next((node for node in before.walk() if node.name == target), None)
    if node is None or not node.accepts_rows:
        return ""
    tokens = [row.token for row in node.rows]
    new_token = max([node.next_token - 1, *tokens]) + 1
    previous = {name: submission.text(name) for name in (f"{target}@rows", f"{target}@on")}
    submission.put(f"{target}@rows", ",".join(map(str, [*tokens, new_token])))
    submission.put(f"{target}@on", STATES[0])
    after = {node.name: node.kind for node in plan().walk()}
    # A further row must not exceed the field limit and turn typed fields into one JSON field.
    if all(after.get(node.name, node.kind) == node.kind for node in before.walk()):
        return ""
    for name, text in previous.items():
        submission.put(name, text or "")
    return gettext(labels.TOO_MANY_FIELDS)


def _remove(before: Node, target: str, submission: Submission) -> None:
    for node in before.walk():
        tokens = [str(row.token) for row in node.rows if row.node.name != target]
        if len(tokens) < len(node.rows):
            submission.put(f"{node.name}@rows", ",".join(tokens))
