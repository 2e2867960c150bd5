"""The composition root: settings, addresses, and the parts that differ between the two shapes."""

from inbox.config.celery import app as celery_app

__all__ = ["celery_app"]
