"""Separates the reasoning that a model writes before its answer, `<reasoning>…</reasoning>` or `<think>…</think>`, from
the answer."""

from __future__ import annotations

_TAGS = ("reasoning", "think", "thinking")


class ReasoningParser:
    """Takes a reply in pieces and returns the text that is not reasoning.

    Reasoning comes at the beginning; what looks like one of these tags further down is part of the answer.
    """

    def __init__(self) -> None:
        self._thoughts: list[str] = []
        self._held: list[str] = []  # a possible tag with the white space before it, or reasoning
        self._begun = ""  # of a tag, or of the end of the reasoning
        self._tag = ""
        self._answering = False

    @property
    def reasoning(self) -> str:
        """The reasoning received so far."""
        so_far = "".join(self._held) if self._tag else ""
        return "\n\n".join(filter(None, map(str.strip, (*self._thoughts, so_far))))

    @property
    def unfinished(self) -> bool:
        """Whether the reasoning was never closed."""
        return bool(self._tag)

    def feed(self, piece: str) -> str:
        """Take in a piece. Returns the part of it that belongs to the answer."""
        for place, character in enumerate(piece):
            if self._answering:
                return piece[place:]
            if shown := self._think(character) if self._tag else self._begin(character):
                return shown + piece[place + 1 :]
        return ""

    def close(self) -> str:
        """Finish the reply. Returns what is left of the answer."""
        return "" if self._tag or self._answering else "".join(self._held)

    def _begin(self, character: str) -> str:
        self._held.append(character)
        if self._begun or not character.isspace():
            self._begun += character.lower()
        for tag in _TAGS:
            if self._begun == f"<{tag}>":
                self._tag, self._begun = tag, ""
                self._held.clear()
                return ""
        if any(f"<{tag}>".startswith(self._begun) for tag in _TAGS):
            return ""
        self._answering = True
        return "".join(self._held)

    def _think(self, character: str) -> str:
        self._held.append(character)
        closing = f"</{self._tag}>"
        self._begun = (self._begun + character)[-len(closing) :]
        if character == ">" and self._begun.lower() == closing:
            self._thoughts.append("".join(self._held)[: -len(closing)])
            self._tag = self._begun = ""
            self._held.clear()
        return ""


def without_reasoning(reply: str) -> str:
    """A whole reply without its reasoning."""
    parser = ReasoningParser()
    return parser.feed(reply) + parser.close()
