"""The scripted agent that newcomers play with and that clients and benchmarks are tested with."""
