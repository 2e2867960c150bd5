"""The Celery app that every process binds, web and worker alike."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")

app = Celery("signoff")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["inbox"])
