"""The demo agent: scripted scenarios to try the inbox, to test clients and for benchmarks."""
