"""
Benchmarks of the product over its network interfaces: `python -m bench`.

docs/benchmarks.md describes each workload and the results.
"""
