"""Addresses of the REST API."""

from django.urls import path

from inbox.api import teamwork, views, webhooks

urlpatterns = [
    path("agents", views.Agents.as_view()),
    path("agents/<slug:slug>", views.AgentDetail.as_view()),
    path("agents/<slug:slug>/test", views.AgentTest.as_view()),
    path("runs", views.Runs.as_view()),
    path("runs/<uuid:run_id>", views.RunDetail.as_view()),
    path("runs/<uuid:run_id>/cancel", views.RunCancel.as_view()),
    path("runs/<uuid:run_id>/retry", views.RunRetry.as_view()),
    path("threads", views.Threads.as_view()),
    path("threads/<uuid:thread_id>", views.ThreadDetail.as_view()),
    path("interrupts", views.Interrupts.as_view()),
    path("interrupts/<uuid:interrupt_id>", views.InterruptDetail.as_view()),
    path("interrupts/<uuid:interrupt_id>/decide", views.InterruptDecide.as_view()),
    path("interrupts/<uuid:interrupt_id>/withdraw", teamwork.InterruptWithdraw.as_view()),
    path("interrupts/<uuid:interrupt_id>/claim", teamwork.InterruptClaim.as_view()),
    path("interrupts/<uuid:interrupt_id>/comments", teamwork.InterruptComments.as_view()),
    path("interrupts/decide", teamwork.InterruptsDecide.as_view()),
    path("interrupts/withdraw", teamwork.InterruptsWithdraw.as_view()),
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<uuid:webhook_id>", webhooks.WebhookDetail.as_view()),
    path("webhooks/<uuid:webhook_id>/rotate", webhooks.WebhookRotate.as_view()),
    path("webhooks/<uuid:webhook_id>/test", webhooks.WebhookTest.as_view()),
    path("webhooks/<uuid:webhook_id>/replay", webhooks.WebhookReplay.as_view()),
    path("webhooks/<uuid:webhook_id>/deliveries", webhooks.WebhookDeliveries.as_view()),
    path("deliveries/<uuid:message_id>/send-again", webhooks.DeliverySendAgain.as_view()),
]
