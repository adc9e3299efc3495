"""`mix`: vectors and the graph at the same time."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.methods.global_ import Global
from trueweave.methods.hybrid import Hybrid
from trueweave.methods.local import Local
from trueweave.methods.naive import Naive
from trueweave.methods.parameters import CHECKED
from trueweave.query_context import Method


@dataclass(frozen=True, config=CHECKED)
class Mix(Hybrid):
    """What naive, local and global find, in turn and without repeats."""

    parts: tuple[Method, ...] = Field(default=(Naive(), Local(), Global()), description="The methods to gather from.")
