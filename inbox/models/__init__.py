"""Columns and constraints: invariants stand here wherever a database can keep them."""

from inbox.models.agents import Agent, Endpoint
from inbox.models.audit import (
    AuditBlock,
    AuditCheck,
    AuditCheckpoint,
    AuditEntry,
    AuditLeaf,
    AuditPayload,
    AuditSink,
    RefusalCount,
)
from inbox.models.claims import Claim
from inbox.models.comments import Comment
from inbox.models.decisions import Decision
from inbox.models.events import Event
from inbox.models.interrupts import Interrupt
from inbox.models.invitations import Invitation
from inbox.models.keys import ApiKey
from inbox.models.orders import Order
from inbox.models.people import Membership, Team, User
from inbox.models.sightings import Sighting, Unmasking
from inbox.models.threads import DeliveredOutcome, Memory, Run, Thread
from inbox.models.toolcalls import ToolCall
from inbox.models.views import SavedView
from inbox.models.webhooks import Delivery, DeliveryAttempt, WebhookEndpoint

__all__ = [
    "Agent",
    "ApiKey",
    "AuditBlock",
    "AuditCheck",
    "AuditCheckpoint",
    "AuditEntry",
    "AuditLeaf",
    "AuditPayload",
    "AuditSink",
    "Claim",
    "Comment",
    "Decision",
    "DeliveredOutcome",
    "Delivery",
    "DeliveryAttempt",
    "Endpoint",
    "Event",
    "Interrupt",
    "Invitation",
    "Membership",
    "Memory",
    "Order",
    "RefusalCount",
    "Run",
    "SavedView",
    "Sighting",
    "Team",
    "Thread",
    "ToolCall",
    "Unmasking",
    "User",
    "WebhookEndpoint",
]
