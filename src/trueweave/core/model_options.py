"""Options of chat models, as settings have them."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict  # of typing only from Python 3.12 on, for pydantic, which brings this one


@with_config(ConfigDict(extra="forbid"))
class ModelOptions(TypedDict, total=False):
    """How a model writes its replies: whether it thinks first, the share of likely tokens it chooses from, and the seed
    of its choice."""

    think: bool
    top_p: Annotated[float, Field(gt=0, le=1)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
