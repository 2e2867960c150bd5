"""API keys."""

from collections.abc import Collection
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import id_field
from inbox.models.people.teams import Team
from inbox.rules.people.access import Permission
from inbox.rules.people.api_keys import permissions_of_key

#: The allowed scopes of an agent's own key, enumerated so that every database can compare them.
_OF_AN_AGENT = Q(scopes=["read"]) | Q(scopes=["run"]) | Q(scopes=["read", "run"])


class ApiKey(models.Model):
    """
    A machine's credential; only the sha256 of its token is stored, the prefix is for display.

    Rotation stores the new token in the same row, so references to the key stay valid; the former
    token works until `former_until`.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="api_keys")
    agent = models.ForeignKey(
        Agent,
        null=True,
        on_delete=models.PROTECT,
        related_name="keys",
        help_text="an agent's own key",
    )
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    former_digest = models.CharField(max_length=64, unique=True, null=True)
    former_until = models.DateTimeField(null=True)
    scopes = models.JSONField(help_text="sorted")
    networks = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="CIDR ranges of the clients that may use it; empty: all",
    )
    created_by = models.CharField(max_length=160, blank=True, help_text="as in the audit trail")
    made_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the last person to receive a token of it; null: a command, or not known",
    )
    former_made_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the person who received the former token",
    )
    token_people = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="sorted ids of those who received the token, or owned the key since",
    )
    former_people = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="the same of the former token",
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the key ends when this person leaves; null: the person in made_by_user",
    )
    created_at = models.DateTimeField()
    rotated_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="null: it does not expire")
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True, help_text="accurate to a minute")
    last_refused_at = models.DateTimeField(null=True, help_text="with an ended token")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(agent=None) | _OF_AN_AGENT, name="keys_of_agents_never_decide"
            )
        ]

    @classmethod
    def owned_by(cls, user_ids: Collection[int]) -> Q:
        """Return the condition for the keys that end when these people leave."""
        return Q(owner__in=user_ids) | Q(owner=None, made_by_user__in=user_ids)

    def person_ids(self, now: datetime | None = None) -> frozenset[int]:
        """
        Return the people who can act with the token: who received it, and each owner since.

        With `now` also those of the former token, until it ends.
        """
        people = {self.made_by_user_id, self.owner_id, *self.token_people}
        if now is not None and self.former_until is not None and now < self.former_until:
            people |= {self.former_made_by_user_id, *self.former_people}
        return frozenset(person for person in people if person is not None)

    def permissions(self) -> frozenset[Permission]:
        return permissions_of_key(self.scopes, of_agent=self.agent_id is not None)
