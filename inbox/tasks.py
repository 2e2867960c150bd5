"""Celery tasks; each message is an id only."""

from uuid import UUID

from celery import shared_task
from django.db import close_old_connections

from inbox import engine, transparency_log
from inbox.sending import invitation_sender, notification_sender, webhook_sender


@shared_task(name="inbox.tasks.execute_run")
def execute_run(run_id: str) -> None:
    try:
        engine.execute_run(UUID(run_id))
    finally:
        close_old_connections()


@shared_task(name="inbox.tasks.deliver_webhooks")
def deliver_webhooks(endpoint_id: str) -> None:
    try:
        webhook_sender.deliver(UUID(endpoint_id), stopping=engine.stopping)
    finally:
        close_old_connections()


@shared_task(name="inbox.tasks.send_notifications")
def send_notifications(channel_id: str) -> None:
    try:
        notification_sender.send_due(UUID(channel_id), stopping=engine.stopping)
    finally:
        close_old_connections()


@shared_task(name="inbox.tasks.send_invitation")
def send_invitation(invitation_id: str) -> None:
    try:
        invitation_sender.send_invitation(UUID(invitation_id), stopping=engine.stopping)
    finally:
        close_old_connections()


@shared_task(name="inbox.tasks.publish_checkpoints")
def publish_checkpoints(sink: str) -> None:
    try:
        transparency_log.publish_checkpoints(int(sink))
    finally:
        close_old_connections()


@shared_task(name="inbox.tasks.publish_entries")
def publish_entries(sink: str) -> None:
    try:
        transparency_log.publish_entries(int(sink))
    finally:
        close_old_connections()
