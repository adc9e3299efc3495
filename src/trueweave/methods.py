"""The methods with their parameters, for `ask(..., method=Naive(top_k=5))`. `trueweave.extend` is for writing one."""

from trueweave.retrieval.methods.auto import Auto
from trueweave.retrieval.methods.combine import Cutoff, Each, Fuse, Rerank
from trueweave.retrieval.methods.community import Community
from trueweave.retrieval.methods.drift import Drift
from trueweave.retrieval.methods.global_ import Global
from trueweave.retrieval.methods.graphrag import GraphRag
from trueweave.retrieval.methods.guess import Guess
from trueweave.retrieval.methods.hipporag import HippoRag
from trueweave.retrieval.methods.hybrid import Hybrid
from trueweave.retrieval.methods.keyword import Keyword
from trueweave.retrieval.methods.linearrag import LinearRag
from trueweave.retrieval.methods.local import Local
from trueweave.retrieval.methods.mix import Mix
from trueweave.retrieval.methods.naive import Naive
from trueweave.retrieval.methods.pathrag import PathRag
from trueweave.retrieval.methods.reword import Decompose, Hyde, Rephrase, Rewrite
from trueweave.retrieval.methods.subgraph import Subgraph
from trueweave.retrieval.methods.walk import Walk
from trueweave.retrieval.methods.weave import Weave

__all__ = [
    "Auto",
    "Community",
    "Cutoff",
    "Decompose",
    "Drift",
    "Each",
    "Fuse",
    "Global",
    "GraphRag",
    "Guess",
    "HippoRag",
    "Hybrid",
    "Hyde",
    "Keyword",
    "LinearRag",
    "Local",
    "Mix",
    "Naive",
    "PathRag",
    "Rephrase",
    "Rerank",
    "Rewrite",
    "Subgraph",
    "Walk",
    "Weave",
]
