"""The display of requests on pages: facts, code and Markdown."""
