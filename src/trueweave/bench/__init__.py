"""Benchmarks: how well methods find what supports an answer, on public sets or on your own questions."""
