"""The display of requests: facts to read, in a presentation for each kind of request."""
