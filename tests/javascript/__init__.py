"""Signoff as the official AG-UI JavaScript client and CopilotKit see it."""
