"""The one Django app."""

from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "inbox"
    verbose_name = "Signoff"
    default_auto_field = "django.db.models.BigAutoField"
