"""Sign the decisions of the last 30 days, so that what was approved before the upgrade can run."""

from datetime import timedelta
from uuid import UUID

from django.db import migrations
from django.utils import timezone

from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.signatures import SignedDecision, sign
from inbox.models.decision_keys import decision_keys

#: Older decisions stay unsigned: a run that is retried on them asks people again.
_SIGNED = timedelta(days=30)
#: Arguments may have a megabyte each.
AT_ONCE = 100

_READ = (
    "args_digest",
    "status",
    "payload",
    "actor_kind",
    "actor_label",
    "user_id",
    "api_key_id",
    "created_at",
    "interrupt",
    "interrupt__tool_call",
    "interrupt__view_digest",
    "interrupt__endpoint_digest",
    "interrupt__tool_call__args",
    "interrupt__tool_call__edited_args",
)


def sign_decisions(apps, schema_editor):
    Decision = apps.get_model("inbox", "Decision")
    key = decision_keys()[0]
    # One that is withdrawn between the reading and the writing of its batch stays unsigned.
    unsigned = Decision.objects.filter(withdrawn_at=None, signature="")
    recent = unsigned.filter(created_at__gte=timezone.now() - _SIGNED).order_by("pk")
    recent = recent.select_related("interrupt__tool_call").only(*_READ)
    last = UUID(int=0)
    while decisions := list(recent.filter(pk__gt=last)[:AT_ONCE]):
        for decision in decisions:
            _sign(decision, key)
        unsigned.bulk_update(decisions, ["args_digest", "signature"])
        last = decisions[-1].pk


def _sign(decision, key):
    interrupt, call = decision.interrupt, decision.interrupt.tool_call
    if call is not None:
        decision.args_digest = digest(call.args if call.edited_args is None else call.edited_args)
    ident = decision.user_id or decision.api_key_id or decision.actor_label
    decided = SignedDecision(
        interrupt_id=interrupt.pk,
        view_digest=interrupt.view_digest,
        endpoint_digest=interrupt.endpoint_digest,
        status=decision.status,
        payload=decision.payload,
        args_digest=decision.args_digest,
        actor=f"{decision.actor_kind}:{ident}",
        decided_at=decision.created_at,
    )
    decision.signature = sign(decided, key, upgraded=True)


class Migration(migrations.Migration):
    atomic = False  # each batch is a transaction of its own

    dependencies = [("inbox", "0033_signed_decisions")]

    operations = [migrations.RunPython(sign_decisions, migrations.RunPython.noop)]
