"""Chain the entries that are there already; their names and texts go where they can be erased."""

import json
import secrets

from django.db import migrations

from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.audit.audit_entry import (
    SALT_BYTES,
    Facts,
    ChainPosition,
    body_of,
    commitment_to,
    hash_of,
)

_IDS = ("team", "thread", "run", "interrupt")


def fill(apps, schema_editor):
    AuditEntry = apps.get_model("inbox", "AuditEntry")
    AuditPayload = apps.get_model("inbox", "AuditPayload")
    places = {}
    for row in AuditEntry.objects.order_by("pk").iterator():
        ids = {name: getattr(row, f"{name}_id") for name in _IDS if getattr(row, f"{name}_id")}
        chain = ids.get("thread", row.team_id)
        place = places.get(chain, ChainPosition(chain))
        payload = canonical_json(
            {
                "actor": row.actor_label,
                "on_behalf": "",
                "digests": {},
                "detail": json.loads(row.detail),
            }
        )
        salt = secrets.token_hex(SALT_BYTES)
        facts = Facts(row.action, _WasActor(ActorKind(row.actor_kind), row.actor_id), row.at, ids)
        row.chain, row.seq = chain, place.seq
        row.body = body_of(facts, place, commitment_to(payload, salt))
        row.hash = hash_of(row.body)
        row.save(update_fields=["chain", "seq", "body", "hash"])
        AuditPayload.objects.create(entry=row, salt=salt, text=payload)
        places[chain] = place.after(row.hash)


class _WasActor(Actor):
    """Whoever acted, of whom the entry has the ident only."""

    @property
    def ident(self):
        return self.label


class Migration(migrations.Migration):

    dependencies = [("inbox", "0015_audit_chain")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
