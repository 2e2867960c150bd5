"""The composition root: settings, URLs, ASGI and Celery applications."""

from inbox.config.celery import app as celery_app

__all__ = ["celery_app"]
