"""Sending to other systems: webhooks, mails, chats and push services."""
