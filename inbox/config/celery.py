"""The Celery application of web and worker processes."""

import os
import sys

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")

app = Celery("signoff")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery closes the thread's connection around each task. `tasks.py` follows Django's rules instead:
# return it to the pool on PostgreSQL, keep it on SQLite.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize
app.autodiscover_tasks(["inbox"])
