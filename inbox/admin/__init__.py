"""Django's admin at /admin/, for superusers: every change by an action, and history to be read."""

from inbox.admin import directories, history, people, teams
from inbox.admin.site import site

__all__ = ["directories", "history", "people", "site", "teams"]
