"""Columns and constraints: invariants stand here wherever a database can keep them."""

from inbox.models.agents import Agent, Endpoint
from inbox.models.audit import AuditEntry
from inbox.models.claims import Claim
from inbox.models.comments import Comment
from inbox.models.decisions import Decision
from inbox.models.events import Event
from inbox.models.interrupts import Interrupt
from inbox.models.people import ApiKey, Membership, Team, User
from inbox.models.threads import Memory, Run, Thread
from inbox.models.toolcalls import ToolCall
from inbox.models.views import SavedView
from inbox.models.webhooks import Delivery, DeliveryAttempt, WebhookEndpoint

__all__ = [
    "Agent",
    "ApiKey",
    "AuditEntry",
    "Claim",
    "Comment",
    "Decision",
    "Delivery",
    "DeliveryAttempt",
    "Endpoint",
    "Event",
    "Interrupt",
    "Membership",
    "Memory",
    "Run",
    "SavedView",
    "Team",
    "Thread",
    "ToolCall",
    "User",
    "WebhookEndpoint",
]
