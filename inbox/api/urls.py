"""Addresses of the REST API."""

from django.urls import path

from inbox.api import teamwork, views

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
]
