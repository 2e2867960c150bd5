"""Addresses of the AG-UI door."""

from django.urls import path

from inbox.api import agui

urlpatterns = [
    path("<slug:slug>/", agui.run, name="agui-run"),
    path("<slug:slug>/connect/", agui.connect, name="agui-connect"),
    path("<slug:slug>/capabilities/", agui.capabilities, name="agui-capabilities"),
]
