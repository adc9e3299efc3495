"""`mix`: vectors and the graph together."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.retrieval.context import Method
from trueweave.retrieval.methods.global_ import Global
from trueweave.retrieval.methods.hybrid import Hybrid
from trueweave.retrieval.methods.local import Local
from trueweave.retrieval.methods.naive import Naive
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class Mix(Hybrid):
    """What naive, local and global find, interleaved and without duplicates."""

    parts: tuple[Method, ...] = Field(default=(Naive(), Local(), Global()), description="The methods to gather from.")
