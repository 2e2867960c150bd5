"""Sixteen ways to change history, each of which is found; and none where nothing was changed."""

import importlib.util
import os
import random
from pathlib import Path

import pytest
from django.db import transaction

from inbox import transparency_log
from inbox.rules.errors import NotFound
from tests.support.audit.logs import verify
from tests.support.audit.tampering import CLASSES
from tools import audit_verifier as ours

ROUNDS = int(os.environ.get("SIGNOFF_TAMPERINGS", "8"))


@pytest.fixture(scope="module")
def alone():
    """The verifier as somebody has it who has nothing else of ours."""
    spec = importlib.util.spec_from_file_location("verifier_alone", ours.__file__)
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks itself up there.
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def verify_export(alone, auditor, path: Path) -> str:
    """What the script alone says of an export of the database as it is now."""
    try:
        path.write_bytes(b"".join(transparency_log.export_lines()))
    except NotFound:
        return "nothing to export"
    key = alone.Key(auditor.key)
    report = alone.verify_export(path, key, alone.notes_in(auditor.checkpoints), latest=True)
    return report["verdict"]


def test_what_nobody_has_changed_is_intact(auditor, log, alone, tmp_path):
    report = verify(auditor)

    assert (report["verdict"], report["findings"]) == ("intact", [])
    assert report["entries"] == report["sealed"] > 40
    assert report["erased"] > 5
    assert verify_export(alone, auditor, tmp_path / "export") == "intact"


@pytest.mark.parametrize("tamper", CLASSES, ids=lambda tamper: tamper.__name__)
def test_tampering_is_found(tamper, auditor, unprotected, alone, tmp_path):
    dice = random.Random(tamper.__name__)
    missed = []
    for number in range(ROUNDS):
        point = transaction.savepoint()
        tamper(dice)
        verdicts = (verify(auditor)["verdict"], verify_export(alone, auditor, tmp_path / "export"))
        if verdicts[0] != "tampered" or verdicts[1] not in ("tampered", "nothing to export"):
            missed.append((number, *verdicts))
        transaction.savepoint_rollback(point)

    assert missed == []
    assert verify(auditor)["verdict"] == "intact"
