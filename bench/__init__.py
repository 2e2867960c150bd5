"""
The works of the product, measured from outside: `python -m bench`.

docs/benchmarks.md says what each work is and what was measured.
"""
