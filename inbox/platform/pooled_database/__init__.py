"""Django's PostgreSQL backend with a circuit breaker in front of its pool."""
