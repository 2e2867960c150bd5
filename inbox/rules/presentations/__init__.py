"""How requests are displayed: facts to read, by what the request looks like."""
