"""From evidence to an answer with checked citations.

`ask` answers, `compose` divides the space in a prompt, `cite` finds the citations in an answer, and `check` has
verifiers judge its sentences. `conversation` rewrites a follow-up question so that it can be searched for on its own.
"""
