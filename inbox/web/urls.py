"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from inbox.web import accounts, decisions, lists, threads

urlpatterns = [
    path("login/", accounts.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", lists.pending, name="pending"),
    path("decided/", lists.decided, name="decided"),
    path("decided/<uuid:interrupt_id>/", lists.decided_interrupt, name="decided_interrupt"),
    path("interrupts/<uuid:interrupt_id>/", lists.interrupt, name="interrupt"),
    path("interrupts/<uuid:interrupt_id>/decide", decisions.decide_interrupt, name="decide"),
    path("threads/", threads.thread_list, name="threads"),
    path("threads/<uuid:thread_id>/", threads.thread, name="thread"),
]
