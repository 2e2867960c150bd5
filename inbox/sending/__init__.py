"""Sending to other systems: webhooks, mails and chats."""
