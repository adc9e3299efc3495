"""The methods: one file each, all over the same index. A user's own is one more entry point."""

from __future__ import annotations

from weft.methods.auto import Auto
from weft.methods.combine import Cutoff, Fuse, Rerank
from weft.methods.community import Community
from weft.methods.drift import Drift
from weft.methods.global_ import Global
from weft.methods.guess import Guess
from weft.methods.hybrid import Hybrid
from weft.methods.keyword import Keyword
from weft.methods.local import Local
from weft.methods.naive import Naive
from weft.methods.subgraph import Subgraph
from weft.methods.walk import Walk
from weft.methods.weave import Weave

__all__ = [
    "Auto",
    "Community",
    "Cutoff",
    "Drift",
    "Fuse",
    "Global",
    "Guess",
    "Hybrid",
    "Keyword",
    "Local",
    "Naive",
    "Rerank",
    "Subgraph",
    "Walk",
    "Weave",
]
