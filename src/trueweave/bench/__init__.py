"""Measuring: how well methods find what supports an answer, on public sets or on one's own questions."""
