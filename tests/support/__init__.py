"""Real servers, real processes and real clients for tests, benchmarks and fault campaigns."""
