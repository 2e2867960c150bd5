"""
Mutated resumes: thousands of wrong answers sent to the endpoints of a running product.

A run waits for one to four answers, and every mutation of them is wrong: incomplete, about another
thread, stale, forged, or of the wrong shape. None may run a tool or be stored as a decision.
`python -m tests.campaigns.mutations` sends a given number and reports how each kind was refused.
"""
