"""AsyncTrueweave: one workspace of an index, with everything that can be done in it."""

from trueweave.engine.database import opened_database
from trueweave.engine.trueweave import AsyncTrueweave

__all__ = ["AsyncTrueweave", "opened_database"]
