"""The health check of a process."""

from django.db import connection
from django.http import HttpRequest, JsonResponse

from inbox.queries.notifications.outages import are_announcements_late


def healthz(request: HttpRequest) -> JsonResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    # 200 all the same: another web process would be no better.
    return JsonResponse({"status": "degraded" if are_announcements_late() else "ok"})
