"""Tables: columns, constraints and indexes."""

from inbox.models.agents.agents import Agent, Endpoint
from inbox.models.agents.tool_presentations import ToolPresentation
from inbox.models.audit.audit_trail import (
    AuditBlock,
    AuditCheckpoint,
    AuditEntry,
    AuditLeaf,
    AuditPayload,
    AuditVerification,
    CheckpointSink,
    EntrySink,
    ExportSignature,
    RejectionCount,
)
from inbox.models.decisions.collaboration import (
    Assignee,
    Claim,
    Comment,
    InterruptView,
    Snooze,
    Unmasking,
)
from inbox.models.decisions.decisions import Decision
from inbox.models.decisions.endorsements import Endorsement
from inbox.models.decisions.saved_views import SavedView
from inbox.models.files.files import File, StoredBlob
from inbox.models.idempotency import IdempotencyRecord
from inbox.models.monitoring.heartbeats import WorkerHeartbeat
from inbox.models.notifications.chat_accounts import ChatIdentity, ChatLinkCode
from inbox.models.notifications.decision_links import DecisionLink
from inbox.models.notifications.notifications import (
    Announcement,
    Channel,
    Notification,
    NotificationSchedule,
    Subscription,
)
from inbox.models.people.api_keys import ApiKey
from inbox.models.people.directories import (
    Directory,
    DirectoryGroup,
    DirectoryGroupMember,
    DirectoryUser,
)
from inbox.models.people.groups import Group, GroupMember
from inbox.models.people.invitations import Invitation
from inbox.models.people.team_limits import TeamLimits, TeamUse
from inbox.models.people.teams import Membership, Team, User
from inbox.models.policies.due_steps import DueStep
from inbox.models.policies.grants import Grant
from inbox.models.policies.policies import PolicyDraft, PolicyVersion, Ruling
from inbox.models.requests.agent_requests import AgentRequest, AgentSession
from inbox.models.runs.agent_errors import AgentError
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import (
    DeliveredOutcome,
    Event,
    Memory,
    Run,
    Thread,
)
from inbox.models.runs.tool_calls import ToolCall
from inbox.models.webhooks.webhooks import Delivery, DeliveryAttempt, WebhookEndpoint

__all__ = [
    "Agent",
    "AgentError",
    "AgentRequest",
    "AgentSession",
    "Announcement",
    "ApiKey",
    "Assignee",
    "AuditBlock",
    "AuditCheckpoint",
    "AuditEntry",
    "AuditLeaf",
    "AuditPayload",
    "AuditVerification",
    "Channel",
    "ChatIdentity",
    "ChatLinkCode",
    "CheckpointSink",
    "Claim",
    "Comment",
    "Decision",
    "DecisionLink",
    "DeliveredOutcome",
    "Delivery",
    "DeliveryAttempt",
    "Directory",
    "DirectoryGroup",
    "DirectoryGroupMember",
    "DirectoryUser",
    "DueStep",
    "Endorsement",
    "Endpoint",
    "EntrySink",
    "Event",
    "ExportSignature",
    "File",
    "Grant",
    "Group",
    "GroupMember",
    "IdempotencyRecord",
    "Interrupt",
    "InterruptView",
    "Invitation",
    "Membership",
    "Memory",
    "Notification",
    "NotificationSchedule",
    "PolicyDraft",
    "PolicyVersion",
    "RejectionCount",
    "Ruling",
    "Run",
    "SavedView",
    "Snooze",
    "StoredBlob",
    "Subscription",
    "Team",
    "TeamLimits",
    "TeamUse",
    "Thread",
    "ToolCall",
    "ToolPresentation",
    "Unmasking",
    "User",
    "WebhookEndpoint",
    "WorkerHeartbeat",
]
