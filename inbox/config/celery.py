"""The Celery app that every process binds, web and worker alike."""

import os
import sys

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")

app = Celery("signoff")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery would close the thread's connection before and after each task; `tasks.py` does it by
# Django's rules instead: back into the pool on PostgreSQL, kept on SQLite.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize
app.autodiscover_tasks(["inbox"])
