"""How requests are displayed, without pages."""
