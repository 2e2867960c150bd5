"""Sign the decisions of the last 30 days, so that what was approved before the upgrade can run."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone

from inbox.domain.consent import digest
from inbox.domain.signatures import SignedDecision, sign
from inbox.models.decision_keys import decision_keys

#: Older decisions stay unsigned: a run that is retried on them asks people again.
_SIGNED = timedelta(days=30)


def sign_decisions(apps, schema_editor):
    Decision = apps.get_model("inbox", "Decision")
    recent = Decision.objects.filter(
        withdrawn_at=None, signature="", created_at__gte=timezone.now() - _SIGNED
    )
    key = decision_keys()[0]
    for decision in recent.select_related("interrupt__tool_call").iterator(1_000):
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
        decision.save(update_fields=["args_digest", "signature"])


class Migration(migrations.Migration):
    dependencies = [("inbox", "0033_signed_decisions")]

    operations = [migrations.RunPython(sign_decisions, migrations.RunPython.noop)]
