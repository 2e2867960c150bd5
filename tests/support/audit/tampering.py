"""
What somebody with write access to the database may do to an audit trail: sixteen classes.

Each function changes rows at random, in the order of a random number generator, as well as it can
be done without the signing key. The triggers have to be away.
"""

import base64
import hashlib
import json
import random
from typing import Any
from uuid import UUID

from django.db.models import F, Max

from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry, AuditLeaf, AuditPayload
from inbox.rules.audit.audit_entry import NO_PREVIOUS_HASH, canonical_json, hash_of
from inbox.rules.audit.merkle import Frontier, leaf_hash
from inbox.rules.audit.signed_checkpoint import SigningKey, checkpoint


def bit_flip(dice: random.Random) -> None:
    row = _any(dice)
    data = bytearray(row.body.encode())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(7)
    _set(row, body=data.decode(errors="replace").replace("\0", "?"))


def edit(dice: random.Random) -> None:
    row = _any(dice)
    _set(row, body=_edited(dice, row))


def edit_and_rehash(dice: random.Random) -> None:
    row = _any(dice)
    body = _edited(dice, row)
    _set(row, body=body, hash=hash_of(body), **_columns(body))


def delete(dice: random.Random) -> None:
    _delete(AuditEntry.objects.filter(pk=_any(dice).pk))


def delete_and_renumber(dice: random.Random) -> None:
    row = _any(dice)
    position = row.leaf.position
    _delete(AuditEntry.objects.filter(pk=row.pk))
    for later in AuditEntry.objects.filter(chain=row.chain, seq__gt=row.seq).order_by("seq"):
        body = _said(later, seq=later.seq - 1)
        _set(later, body=body, hash=hash_of(body), seq=later.seq - 1)
    _close_gaps(position)


def swap(dice: random.Random) -> None:
    first, other = dice.sample(list(AuditEntry.objects.filter(leaf__isnull=False)), 2)
    for row, source in ((first, other), (other, first)):
        _set(row, body=source.body, hash=source.hash)


def duplicate(dice: random.Random) -> None:
    row = _any(dice)
    payload = AuditPayload.objects.filter(entry=row).first()
    last = AuditEntry.objects.filter(chain=row.chain).aggregate(last=Max("seq"))["last"]
    position = _make_room(dice.randrange(_end()))
    row.pk, row.seq = None, last + 1
    row.save(force_insert=True)
    AuditLeaf.objects.create(position=position, entry=row)
    if payload is not None:
        AuditPayload.objects.create(entry=row, salt=payload.salt, text=payload.text)


def truncate(dice: random.Random) -> None:
    size = dice.randrange(_end())
    _delete(AuditEntry.objects.filter(leaf__position__gte=size))
    if dice.random() < 0.5:
        AuditCheckpoint.objects.filter(size__gt=size).delete()


def drop_a_thread(dice: random.Random) -> None:
    row = _any(dice)
    _delete(AuditEntry.objects.filter(chain=row.chain))
    if dice.random() < 0.5:
        _close_gaps(0)


def column_only(dice: random.Random) -> None:
    row = _any(dice)
    other = _any(dice)
    changes: dict[str, Any] = {
        "action": f"{row.action}x",
        "actor_id": f"{row.actor_id}1",
        "actor_kind": "human" if row.actor_kind != "human" else "key",
        "at": other.at if other.at != row.at else row.at.replace(year=2000),
        "seq": row.seq + 1_000,
        "chain": UUID(int=dice.getrandbits(128)),
        "hash": hashlib.sha256(dice.randbytes(8)).hexdigest(),
        "erases_from": 1 if row.erases_from is None else None,
        "run": None if row.run_id else F("thread_id"),
        "thread": None if row.thread_id else F("team_id"),
    }
    name = dice.choice(
        [name for name in changes if name not in ("run", "thread") or changes[name] is None]
    )
    _set(row, **{name: changes[name]})


def edit_a_payload(dice: random.Random) -> None:
    payload = dice.choice(list(AuditPayload.objects.all()))
    content = json.loads(payload.text)
    content["actor"] = f"{content['actor']}{dice.randrange(10)}"
    text = canonical_json(content)
    if dice.random() < 0.3:
        AuditPayload.objects.filter(pk=payload.pk).update(salt=dice.randbytes(32).hex())
    else:
        AuditPayload.objects.filter(pk=payload.pk).update(text=text)


def delete_a_payload(dice: random.Random) -> None:
    AuditPayload.objects.filter(pk=dice.choice(list(AuditPayload.objects.all())).pk).delete()


def chain_again_after_an_edit(dice: random.Random) -> None:
    row = _any(dice)
    body = _edited(dice, row)
    _set(row, body=body, **_columns(body))
    _chain_again(row.chain)
    _seal_again(dice)


def chain_again_after_a_deletion(dice: random.Random) -> None:
    row = _any(dice)
    position = row.leaf.position
    _delete(AuditEntry.objects.filter(pk=row.pk))
    _chain_again(row.chain)
    _close_gaps(position)
    _seal_again(dice)


def chain_again_after_an_insertion(dice: random.Random) -> None:
    row = _any(dice)
    later = AuditEntry.objects.filter(chain=row.chain, seq__gte=row.seq)
    for entry in later.order_by("-seq"):
        _set(entry, seq=entry.seq + 1)
    position = _make_room(row.leaf.position)
    payload = AuditPayload.objects.filter(entry=row).first()
    row.pk, row.body = None, _said(row, action="interrupt.cancelled")
    row.action = "interrupt.cancelled"
    row.save(force_insert=True)
    AuditLeaf.objects.create(position=position, entry=row)
    if payload is not None:
        AuditPayload.objects.create(entry=row, salt=payload.salt, text=payload.text)
    _chain_again(row.chain)
    _seal_again(dice)


def restore_an_old_backup(dice: random.Random) -> None:
    sizes = list(AuditCheckpoint.objects.order_by("size").values_list("size", flat=True))
    size = dice.choice([0, *sizes[:-1]])
    _delete(AuditEntry.objects.filter(leaf__position__gte=size))
    AuditCheckpoint.objects.filter(size__gt=size).delete()
    AuditBlock.objects.filter(number__gte=size // 256).delete()


CLASSES = (
    bit_flip,
    edit,
    edit_and_rehash,
    delete,
    delete_and_renumber,
    swap,
    duplicate,
    truncate,
    drop_a_thread,
    column_only,
    edit_a_payload,
    delete_a_payload,
    chain_again_after_an_edit,
    chain_again_after_a_deletion,
    chain_again_after_an_insertion,
    restore_an_old_backup,
)


def _any(dice: random.Random) -> Any:
    return dice.choice(list(AuditEntry.objects.filter(leaf__isnull=False).select_related("leaf")))


def _set(row: Any, **columns: Any) -> None:
    AuditEntry.objects.filter(pk=row.pk).update(**columns)


def _said(row: Any, **changes: Any) -> str:
    return canonical_json({**json.loads(row.body), **changes})


def _edited(dice: random.Random, row: Any) -> str:
    body = json.loads(row.body)
    what = dice.choice(["action", "actor", "at", "state"])
    if what == "actor":
        body["actor"] = {**body["actor"], "id": f"{body['actor']['id']}{dice.randrange(10)}"}
    elif what == "at":
        body["at"] = "2020" + body["at"][4:]
    elif what == "state":
        body["state"] = ["open", f"expired{dice.randrange(10)}"]
    else:
        body["action"] = f"interrupt.{dice.choice(['approved', 'denied', 'forged'])}"
    return canonical_json(body)


def _columns(body: str) -> dict[str, Any]:
    from datetime import datetime

    content = json.loads(body)
    return {
        "action": content["action"],
        "actor_id": content["actor"]["id"],
        "at": datetime.fromisoformat(content["at"]),
    }


def _delete(entries: Any) -> None:
    chosen = list(entries.values_list("pk", flat=True))
    AuditPayload.objects.filter(entry__in=chosen).delete()
    AuditLeaf.objects.filter(entry__in=chosen).delete()
    AuditEntry.objects.filter(pk__in=chosen).delete()


def _close_gaps(position: int) -> None:
    leaves = AuditLeaf.objects.filter(position__gte=position).order_by("position")
    for number, leaf in enumerate(leaves, start=position):
        AuditLeaf.objects.filter(pk=leaf.pk).update(position=number)


def _make_room(position: int) -> int:
    for leaf in AuditLeaf.objects.filter(position__gte=position).order_by("-position"):
        AuditLeaf.objects.filter(pk=leaf.pk).update(position=leaf.position + 1)
    return position


def _end() -> int:
    last = AuditLeaf.objects.aggregate(last=Max("position"))["last"]
    return -1 if last is None else last + 1


def _chain_again(chain: UUID) -> None:
    before = NO_PREVIOUS_HASH
    for seq, row in enumerate(AuditEntry.objects.filter(chain=chain).order_by("seq"), start=1):
        body = _said(row, seq=seq, prev=before)
        before = hash_of(body)
        _set(row, seq=seq, body=body, hash=before)


def _seal_again(dice: random.Random) -> None:
    """Make the log fit its rows, and forge what the key would have to sign."""
    frontier = Frontier()
    for entry_hash in AuditEntry.objects.order_by("leaf__position").values_list("hash", flat=True):
        frontier.append(leaf_hash(entry_hash))
    newest = AuditCheckpoint.objects.order_by("-size").first()
    AuditCheckpoint.objects.filter(size=frontier.size).exclude(pk=newest.pk).delete()
    AuditCheckpoint.objects.filter(pk=newest.pk).update(
        size=frontier.size, frontier=frontier.to_text(), note=_forged(dice, newest, frontier)
    )


def _forged(dice: random.Random, newest: Any, frontier: Frontier) -> str:
    name = newest.note.split("\n")[0]
    root = base64.b64encode(frontier.root()).decode()
    how = dice.randrange(3)
    if how == 0:  # another key under the same name
        key = SigningKey(name, dice.randbytes(32))
        return checkpoint(size=frontier.size, root=frontier.root(), at=newest.at, key=key)
    lines = newest.note.split("\n")
    lines[1], lines[2] = str(frontier.size), root
    if how == 1:  # the signature of another text
        return "\n".join(lines)
    return newest.note  # the old note at the new size
