"""
Mutated resumes: thousands of wrong answers sent through the doors of a running product.

A run waits for one to four answers, and every mutation of them is wrong: incomplete, about another
thread, stale, forged, of the wrong shape. None may run anything, nor be remembered as a decision.
`python -m tests.mutations` sends as many as it is told to, and tells how each kind was refused.
"""
