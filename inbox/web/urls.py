"""Addresses of the pages."""

urlpatterns: list[object] = []
