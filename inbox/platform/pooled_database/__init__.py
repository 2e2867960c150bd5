"""Django's PostgreSQL backend with its pool, and a circuit breaker in front of that."""
