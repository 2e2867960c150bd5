"""Decisions on interrupts."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.fields import choices, id_field
from inbox.models.people.api_keys import ApiKey
from inbox.models.runs.interrupts import Interrupt
from inbox.rules.decisions.signatures import SignedDecision
from inbox.rules.people.access import POLICY, Actor, ActorKind
from inbox.rules.policies.language.policy import Effect
from inbox.rules.runs.states import EntryStatus


class Decision(models.Model):
    """An answer to an interrupt; at most one is in force, withdrawn ones remain as rows."""

    id = id_field()
    interrupt = models.ForeignKey(Interrupt, on_delete=models.PROTECT, related_name="decisions")
    status = models.CharField(max_length=10, choices=choices(EntryStatus))
    payload = models.TextField(null=True, help_text="canonical JSON text that the agent receives")
    metadata = models.TextField(
        null=True, help_text="JSON text of the metadata that the client sent for the agent"
    )
    original_payload = models.TextField(
        null=True,
        help_text="`payload` as the client wrote it, if it differs",
    )
    tool_call_before = models.TextField(
        null=True, help_text="JSON text of the tool call before this decision changed it"
    )
    view_digest = models.CharField(max_length=64, blank=True, help_text="of the displayed view")
    entrance = models.CharField(
        max_length=20,
        blank=True,
        help_text="rules.decisions.gate.Entrance; blank in old rows",
    )
    override_reason = models.CharField(
        max_length=500, blank=True, help_text="of an approval despite the policy"
    )
    client_run_id = models.CharField(
        max_length=200, blank=True, help_text="runId of the AG-UI request with the decision"
    )
    ruling = models.ForeignKey(
        "Ruling",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="of the policy that decided; null if a person or key did",
    )
    grant = models.ForeignKey(
        "Grant",
        null=True,
        on_delete=models.PROTECT,
        related_name="decisions",
        db_index=False,
        help_text="the grant that approved the call",
    )
    grant_use = models.PositiveSmallIntegerField(
        null=True, help_text="the number of this use of the grant, from 1"
    )
    unseen = models.BooleanField(
        default=False, help_text="explicitly approved without seeing the masked values"
    )
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=160)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    api_key = models.ForeignKey(ApiKey, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    args_digest = models.CharField(
        max_length=64, blank=True, help_text="of the arguments that this decision allows"
    )
    signature = models.CharField(
        max_length=120,
        blank=True,
        help_text="inbox.rules.decisions.signatures; blank once withdrawn",
    )
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt"],
                condition=Q(withdrawn_at=None),
                name="one_standing_decision",
            ),
            models.UniqueConstraint(
                fields=["grant", "grant_use"],
                condition=Q(grant__isnull=False),
                name="one_decision_per_use_of_a_grant",
            ),
        ]

    def signed(self) -> SignedDecision:
        """Return the fields that the signature covers, from the current rows."""
        return SignedDecision(
            interrupt_id=self.interrupt.pk,
            view_digest=self.interrupt.view_digest,
            endpoint_digest=self.interrupt.endpoint_digest,
            status=self.status,
            payload=self.payload,
            args_digest=self.args_digest,
            actor=f"{self.actor_kind}:{self.ident}",
            decided_at=self.created_at,
        )

    @property
    def ident(self) -> str:
        """Return the id of the actor (`Actor.ident`)."""
        return str(self.user_id or self.api_key_id or self.actor_label)

    @property
    def is_approval_by_policy(self) -> bool:
        """True if a rule or a grant approved; reviewers may take that back."""
        is_by_policy = (self.actor_kind, self.actor_label) == (ActorKind.SYSTEM, POLICY.label)
        is_denial = self.ruling is not None and self.ruling.effect == Effect.DENY
        return is_by_policy and not is_denial

    def is_by(self, actor: Actor) -> bool:
        return (self.user_id, self.api_key_id) == (actor.user_id, actor.key_id)
