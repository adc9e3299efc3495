"""How far a search continues when many of the chunks that it finds have the same text."""

_FACTOR, _DEEPEST = 4, 1000


def depths(limit: int) -> list[int]:
    """How many chunks to look for first, and then in each further attempt."""
    return [limit, *(depth for depth in (_FACTOR * limit, _DEEPEST) if limit < depth <= _DEEPEST)]
