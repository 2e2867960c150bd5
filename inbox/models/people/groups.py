"""Groups of a team's members, which the rules of its policy can require."""

from django.db import models

from inbox.models.fields import id_field
from inbox.models.people.teams import Membership, Team
from inbox.rules.people.groups import MAX_NAME_CHARACTERS


class Group(models.Model):
    """A named group of members; policies refer to it by its name, which never changes."""

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="groups")
    name = models.SlugField(max_length=MAX_NAME_CHARACTERS, db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_group_per_name")]


class GroupMember(models.Model):
    """A member of a group; removed with the membership of the team."""

    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="members")
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="groups")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "membership"], name="once_in_a_group")
        ]
