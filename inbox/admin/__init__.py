"""Django's admin at /admin/, for superusers: every change by an action, and history to be read."""

from inbox.admin import history, people, teams
from inbox.admin.site import site

__all__ = ["history", "people", "site", "teams"]
