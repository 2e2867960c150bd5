"""The base of commands that do one thing and end."""

from django.core.checks import Tags
from django.core.management.base import BaseCommand


class OperatorCommand(BaseCommand):
    """
    A command that checks the keys before it starts, and nothing else.

    Django's other checks import every page and shape: 1.6 s of 2.4 s. `serve` runs them all.
    """

    requires_system_checks = (Tags.security,)
