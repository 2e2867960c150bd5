"""Uploaded files, and the objects of the storage that hold their bytes."""

from enum import StrEnum

from django.db import models
from django.db.models import Q

from inbox.models.fields import choices, id_field, known_states
from inbox.models.people.api_keys import ApiKey
from inbox.models.people.teams import Team, User
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import Thread
from inbox.rules.files.file_names import MAX_CHARACTERS
from inbox.rules.files.references import FileReference


class BlobState(StrEnum):
    """
    The state of an object in the storage.

    Its row is committed before the object is written, and removed after the object is: whatever a
    crash leaves behind has a row, by which the sweeper deletes it.
    """

    WRITING = "writing"
    STORED = "stored"
    DELETING = "deleting"


class StoredBlob(models.Model):
    """
    One object in the storage, with the bytes of one or more files of a team.

    Its key has the digest and a random part, so that nobody else writes or reads the object while
    it is deleted. Teams never share objects: whether another team has a file cannot be measured.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    key = models.CharField(max_length=200, unique=True)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=choices(BlobState))
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            known_states("state", BlobState, "blob_state_is_known"),
            models.UniqueConstraint(
                fields=["team", "sha256"],
                condition=Q(state=BlobState.STORED),
                name="one_blob_per_digest",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=~Q(state=BlobState.STORED),
                name="blobs_to_delete",
            )
        ]


class File(models.Model):
    """
    One upload: a file that an agent attaches to requests, or a person to an answer.

    Without a thread it is not part of anything yet; the sweeper erases it after a day. An erased
    file keeps its digest, which decisions are bound to, but neither its name nor its bytes.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(Thread, null=True, on_delete=models.PROTECT, related_name="files")
    interrupt = models.ForeignKey(
        Interrupt,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="the request to which a person uploads it; an answer may use it there only",
    )
    agent_id = models.UUIDField(null=True, help_text="the agent that it was uploaded for")
    blob = models.ForeignKey(StoredBlob, null=True, on_delete=models.PROTECT, related_name="files")
    name = models.CharField(max_length=MAX_CHARACTERS, blank=True)
    media_type = models.CharField(max_length=260)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    uploaded_by = models.CharField(max_length=160)
    user = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    api_key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(blob=None, erased_at__isnull=False)
                | Q(blob__isnull=False, erased_at=None),
                name="file_has_bytes_until_erased",
            )
        ]
        indexes = [
            models.Index(
                fields=["team", "created_at"], condition=Q(erased_at=None), name="files_of_a_team"
            ),
            models.Index(
                fields=["created_at"],
                condition=Q(thread=None, erased_at=None),
                name="files_of_nothing",
            ),
        ]

    @property
    def reference(self) -> FileReference:
        return FileReference(self.pk, self.name, self.media_type, self.size, self.sha256)
