"""The reply of a tool: fields for programs, and the same as text for a model."""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.mcp.marking import marked
from trueweave.mcp.results import ToolOutput


@dataclass(frozen=True)
class ToolReply:
    """The fields, what is told about them in Trueweave's own words, and the quotes from documents."""

    output: ToolOutput
    told: str
    quoted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole reply as text for a model."""
        return marked(self.told, self.quoted, self.output.more)


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"
