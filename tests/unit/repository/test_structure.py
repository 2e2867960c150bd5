"""Rules about the source that no other tool checks."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
INBOX = ROOT / "inbox"
LOCKS = INBOX / "models" / "locks.py"
MOVES = INBOX / "models" / "moves.py"
CLOCKS = (INBOX / "platform" / "clock.py", ROOT / "agents" / "sdk" / "expiry.py")
WALL_CLOCK = {
    *("timezone.now", "timezone.localdate", "timezone.localtime", "datetime.now"),
    *("datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"),
    *("time.localtime", "time.gmtime"),
}


def test_row_and_advisory_locks_are_taken_only_in_models_locks():
    for path in INBOX.rglob("*.py"):
        if path != LOCKS and "migrations" not in path.parts:
            text = path.read_text()
            assert "select_for_update(" not in text, path
            assert "pg_advisory" not in text, path
            assert "pg_try_advisory" not in text, path


def test_status_columns_are_assigned_only_in_models_moves():
    for path in INBOX.rglob("*.py"):
        if path != MOVES and not {"migrations", "forms", "platform"} & set(path.parts):
            for node in ast.walk(ast.parse(path.read_text())):
                assert not _assigns_status(node), f"{path}:{getattr(node, 'lineno', 0)}"


def _assigns_status(node: ast.AST) -> bool:
    """Return whether this assigns `row.status` or `call.state`, or updates such a column."""
    match node:
        case ast.Call(func=ast.Attribute(attr="update" | "bulk_update"), keywords=keywords):
            values = [keyword.value for keyword in keywords if keyword.arg in ("status", "state")]
            return any(not _is_other_column(value) for value in values)
        case ast.Assign(targets=targets):
            return any(map(_is_status_column, targets)) and not _is_other_column(node.value)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _is_status_column(target)
    return False


def _is_other_column(value: ast.AST) -> bool:
    """Return whether this is a state of messages or stored files, which have no table of moves."""
    return any(name in ast.unparse(value) for name in ("DeliveryStatus", "BlobState"))


def test_compiled_updates_leave_status_columns_to_moves():
    for path in INBOX.rglob("*.py"):
        if path != MOVES and "models.statements import" in path.read_text():
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and ".execute(" in ast.unparse(node):
                    dicts = [ast.unparse(item) for item in ast.walk(node) if type(item) is ast.Dict]
                    assert not any("'status':" in item or "'state':" in item for item in dicts), (
                        f"{path}:{node.lineno}"
                    )


def _is_status_column(target: ast.expr) -> bool:
    match target:
        case ast.Tuple(elts=targets):
            return any(map(_is_status_column, targets))
        case ast.Attribute(value=ast.Name("self")) | ast.Attribute(ast.Name("thread"), "state"):
            return False  # no row; the conversation's state, which is JSON
        case ast.Attribute(attr="status" | "state"):
            return True
    return False


#: Parameters and attributes of these names hold rows.
ROW_NAMES = {
    *("agent", "attempt", "call", "comment", "decision", "delivery", "endpoint", "entry"),
    *("interrupt", "invitation", "member", "membership", "row", "run", "saved_view", "team"),
    *("thread", "tool_call", "user", "webhook"),
}


def test_parameters_of_pages_and_rest_that_hold_rows_are_typed():
    untyped = [
        f"{path.relative_to(INBOX)}:{node.lineno}: {name}"
        for layer in ("web", "api")
        for path in (INBOX / layer).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name, annotation in _annotations(node)
        if name in ROW_NAMES and isinstance(annotation, ast.Name) and annotation.id == "Any"
    ]

    assert untyped == []


def _annotations(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    match node:
        case ast.arg(arg=name, annotation=annotation):
            return [(name, annotation)]
        case ast.AnnAssign(target=ast.Name(name), annotation=annotation):
            return [(name, annotation)]
    return []


def test_the_wall_clock_is_read_only_in_the_clock_modules():
    for path in (*INBOX.rglob("*.py"), *(ROOT / "agents").rglob("*.py")):
        if path not in CLOCKS and "migrations" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute):
                    name = ".".join(ast.unparse(node).split(".")[-2:])
                    assert name not in WALL_CLOCK, f"{path}:{node.lineno}"
                elif isinstance(node, ast.ImportFrom) and node.module == "time":
                    names = {f"time.{alias.name}" for alias in node.names}
                    assert not names & WALL_CLOCK, f"{path}:{node.lineno}"
