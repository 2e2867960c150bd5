"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from inbox.web import (
    accounts,
    agent_forms,
    agents,
    bulk,
    decisions,
    languages,
    lists,
    runs,
    teamwork,
    threads,
    views,
)

urlpatterns = [
    path("login/", accounts.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", languages.choose, name="set_language"),
    path("", lists.pending, name="pending"),
    path("decided/", lists.decided, name="decided"),
    path("decided/<uuid:interrupt_id>/", lists.decided_interrupt, name="decided_interrupt"),
    path("interrupts/<uuid:interrupt_id>/", lists.interrupt, name="interrupt"),
    path("interrupts/<uuid:interrupt_id>/decide", decisions.decide_interrupt, name="decide"),
    path("interrupts/<uuid:interrupt_id>/claim", teamwork.claim, name="claim"),
    path("interrupts/<uuid:interrupt_id>/release", teamwork.release, name="release"),
    path("interrupts/<uuid:interrupt_id>/renew", teamwork.renew, name="renew"),
    path("interrupts/<uuid:interrupt_id>/withdraw", teamwork.withdraw, name="withdraw"),
    path("interrupts/<uuid:interrupt_id>/comment", teamwork.comment, name="comment"),
    path("similar/<uuid:interrupt_id>/", bulk.similar, name="similar"),
    path("review/", bulk.review, name="review"),
    path("review/decide", bulk.decide_ticked, name="decide_ticked"),
    path("review/withdraw", bulk.withdraw_decided, name="withdraw_decided"),
    path("views/save", views.save, name="save_view"),
    path("views/<uuid:view_id>/share", views.share, name="share_view"),
    path("views/<uuid:view_id>/delete", views.delete, name="delete_view"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/new/", runs.start_page, name="start"),
    path("runs/new/<slug:slug>", runs.start_run, name="start_run"),
    path("runs/<uuid:run_id>/retry", teamwork.retry, name="retry"),
    path("runs/<uuid:run_id>/cancel", teamwork.cancel, name="cancel"),
    path("agents/", agents.agent_list, name="agents"),
    path("agents/<slug:slug>/", agents.agent, name="agent"),
    path("agents/<slug:slug>/test", agents.test, name="test_agent"),
    path("agents/<slug:slug>/change/", agent_forms.change_page, name="change_agent"),
    path("agents/<slug:slug>/save", agent_forms.save, name="save_agent"),
    # Not below agents/, where an agent of this name would be.
    path("new-agent/", agent_forms.new_page, name="new_agent"),
    path("new-agent/add", agent_forms.add, name="add_agent"),
    path("threads/", threads.thread_list, name="threads"),
    path("threads/<uuid:thread_id>/", threads.thread, name="thread"),
    path("threads/<uuid:thread_id>/message", runs.send_message, name="send_message"),
]
