"""
Read-only pages of runs, interrupts, decisions, deliveries and the audit trail.

Lists are filtered only by columns of their own that have an index in list order. A filter on a
related table would scan all rows to find the newest.
"""

from django.contrib import admin

from inbox.admin.pages import Page, column
from inbox.admin.site import site
from inbox.models import (
    AuditCheckpoint,
    AuditEntry,
    Comment,
    Decision,
    Delivery,
    Interrupt,
    Run,
    Thread,
    ToolCall,
)
from inbox.rules.schema.mask_agui import masked_detail
from inbox.rules.text.safe_text import json_text


@admin.register(Thread, site=site)
class ThreadPage(Page):
    list_display = (column("external_id"), column("title"), "team", "agent", "updated_at")
    list_select_related = ("team", "agent")
    list_filter = ("team",)
    search_fields = ("external_id", "title")
    heavy = ("messages", "state", "client_messages")
    fields = (
        *("id", "team", "agent", column("external_id"), column("title")),
        *("next_seq", "created_at", "updated_at"),
    )


@admin.register(Run, site=site)
class RunPage(Page):
    list_display = ("id", "team", "agent", "status", column("started_by"), "queued_at")
    list_select_related = ("team", "agent")
    list_filter = ("team", "status")
    search_fields = ("external_id", "started_by")
    search_ids = ("pk", "thread")
    heavy = ("input", "resume", "checkpoint")
    fields = (
        *("id", "team", "agent", "thread", column("external_id"), "status", "error_code"),
        *("resumes", "retries", column("started_by"), "attempt", "fence", "lease_until"),
        *("queued_at", "started_at", "finished_at", "resume_at"),
    )


@admin.register(ToolCall, site=site)
class ToolCallPage(Page):
    list_display = (column("name"), "state", "effect", "team", "run")
    list_select_related = ("team", "run")
    list_filter = ("team",)
    search_fields = ("name", "tool_call_id")
    search_ids = ("pk", "run", "thread")
    heavy = ("args", "edited_args", "result")
    fields = (
        *("id", "thread", "run", column("tool_call_id"), column("name"), "effect", "state"),
        *(column("args", as_json=True), column("edited_args", as_json=True)),
        *(column("result", as_json=True), "proposed_at", "started_at", "settled_at"),
    )


@admin.register(Interrupt, site=site)
class InterruptPage(Page):
    list_display = (column("title"), "team", "agent", "status", column("tool"), "created_at")
    list_select_related = ("team", "agent")
    list_filter = ("team", "status")
    search_fields = ("title", "tool", "reason")
    search_ids = ("pk", "run", "thread", "tool_call")
    heavy = ("body", "args", "search_text")
    fields = (
        *("id", "team", "agent", "thread", "run", "tool_call", column("interrupt_id")),
        *(column("title"), column("tool"), column("reason"), "status", "decided_by"),
        *(column("body", as_json=True), "view_digest", "created_at", "expires_at", "closed_at"),
    )


@admin.register(Decision, site=site)
class DecisionPage(Page):
    list_display = (
        *("id", column("interrupt.title", "interrupt"), column("interrupt.team.name", "team")),
        *("status", column("actor_label", "by"), "created_at", "withdrawn_at"),
    )
    list_select_related = ("interrupt__team",)
    list_filter = ("status",)
    search_fields = ("actor_label",)
    search_ids = ("pk", "interrupt")
    heavy = ("payload", "tool_call_before", *(f"interrupt__{name}" for name in InterruptPage.heavy))
    fields = (
        *("id", "interrupt", "status", column("payload", as_json=True), "view_digest"),
        *("actor_kind", column("actor_label"), "user", "api_key", "created_at", "withdrawn_at"),
    )


@admin.register(Comment, site=site)
class CommentPage(Page):
    list_display = (
        *("id", "user", column("interrupt.title", "interrupt")),
        *(column("interrupt.team.name", "team"), "created_at"),
    )
    list_select_related = ("user", "interrupt__team")
    search_fields = ("text", "user__username")
    search_ids = ("pk", "interrupt")
    heavy = ("text", *(f"interrupt__{name}" for name in InterruptPage.heavy))
    fields = ("id", "interrupt", "user", column("text"), "created_at")


@admin.register(Delivery, site=site)
class DeliveryPage(Page):
    list_display = (
        *("message_id", "type", column("endpoint.team.name", "team"), "endpoint"),
        *("status", "failed_attempts", "created_at"),
    )
    list_select_related = ("endpoint__team",)
    list_filter = ("endpoint", "status")
    search_fields = ("type",)
    search_ids = ("message_id", "endpoint", "thread", "interrupt")
    heavy = ("body",)
    fields = (
        *("message_id", "endpoint", "thread", "interrupt", "type", column("body", as_json=True)),
        *(
            "status",
            "is_manual",
            "failed_attempts",
            "attempts",
            "next_try_at",
            "created_at",
            "delivered_at",
        ),
    )

    def attempts(self, row: Delivery) -> str:
        """Return one line for each attempt, the latest first; without response bodies."""
        attempts = row.attempts.order_by("-pk")[:20]
        return "\n".join(
            f"{attempt.at:%Y-%m-%d %H:%M:%S} UTC, {attempt.status_code or attempt.problem}, "
            f"{attempt.milliseconds} ms"
            for attempt in attempts
        )


@admin.register(AuditEntry, site=site)
class AuditEntryPage(Page):
    list_display = ("id", "action", "actor", "team", "thread_id", "at")
    list_select_related = ("team", "payload")
    list_filter = ("team",)
    search_fields = ("action", "actor_id")
    search_ids = ("team", "chain", "thread", "run", "interrupt", "tool_call")
    heavy = ("body",)
    fields = (
        *("id", "action", "actor", "actor_kind", "actor_id", "at", "team", "thread", "run"),
        *(
            "interrupt",
            "tool_call",
            "content",
            "chain",
            "seq",
            "hash",
            column("body", as_json=True),
        ),
    )

    def actor(self, row: AuditEntry) -> str:
        return json_text(row.content["actor"])[1:-1] or f"{row.actor_kind} {row.actor_id}"

    def content(self, row: AuditEntry) -> str:
        """Return the erasable part of the entry, masked and without its salt."""
        payload = row.content
        return json_text({**payload, "detail": masked_detail(payload["detail"])})


@admin.register(AuditCheckpoint, site=site)
class AuditCheckpointPage(Page):
    list_display = ("size", "at")
    search_help_text = ""
    fields = ("size", "at", column("note"))
