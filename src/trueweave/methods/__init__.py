"""The methods: one file each, all over the same context. A user's own is one more entry point."""

from __future__ import annotations

from trueweave.methods.auto import Auto
from trueweave.methods.combine import Cutoff, Fuse, Rerank
from trueweave.methods.community import Community
from trueweave.methods.drift import Drift
from trueweave.methods.global_ import Global
from trueweave.methods.guess import Guess
from trueweave.methods.hipporag import HippoRag
from trueweave.methods.hybrid import Hybrid
from trueweave.methods.keyword import Keyword
from trueweave.methods.linearrag import LinearRag
from trueweave.methods.local import Local
from trueweave.methods.mix import Mix
from trueweave.methods.naive import Naive
from trueweave.methods.subgraph import Subgraph
from trueweave.methods.walk import Walk
from trueweave.methods.weave import Weave

__all__ = [
    "Auto",
    "Community",
    "Cutoff",
    "Drift",
    "Fuse",
    "Global",
    "Guess",
    "HippoRag",
    "Hybrid",
    "Keyword",
    "LinearRag",
    "Local",
    "Mix",
    "Naive",
    "Rerank",
    "Subgraph",
    "Walk",
    "Weave",
]
