"""Reports by a language model: a title, a summary, and findings that reference the facts that support them.

The prompt depends only on the community's facts, so equal ones are sent and paid for once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from trueweave.core.errors import BadReply
from trueweave.core.graph import CommunityReport, Finding
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM
from trueweave.graph.report_facts import EntityFact, Facts, RelationFact
from trueweave.models.json_reply import Figure, Lenient, Unusable, read
from trueweave.models.prompts import BUILT_IN, PromptSet, fence, object_schema
from trueweave.text import tokens
from trueweave.text.names import tidy
from trueweave.text.rows import row

MAX_TOKENS = 2000
MOST_FACTS = 300  # of a kind: more would not fit into any budget
BUDGET = 8000  # tokens of facts

_MOST_FINDINGS = 8
_SHOWN = 200  # characters of a reply
_PURPOSE = Purpose("report")


# Accepted forms: "E1, R2", ["E1", "R2"], "[e1]".
_Numbers = Annotated[Sequence[str], BeforeValidator(lambda given: re.findall(r"\b[EFR]\d+", str(given).upper()))]


class _FindingFound(Lenient):
    summary: str
    text: str = ""
    references: _Numbers = ()


class _ReportFound(Lenient):
    title: str
    summary: str
    rating: Figure = 0
    reason: str = ""
    findings: Sequence[_FindingFound] = ()


_TEXT = {"type": "string"}
# References as text, not as a list: a model that starts counting might not stop.
_FINDING = object_schema({"summary": _TEXT, "text": _TEXT, "references": _TEXT})
_SCHEMA = json.dumps(
    object_schema(
        {
            "title": _TEXT,
            "summary": _TEXT,
            "rating": {"type": "number"},
            "reason": _TEXT,
            "findings": {"type": "array", "items": _FINDING},
        }
    )
)

_Fact = EntityFact | RelationFact | Finding


class Prompted(NamedTuple):
    """Facts as shown to the model, and the meaning of its references."""

    text: str
    rows: Mapping[str, _Fact]


class ReportWriter:
    """Writes reports from facts of `budget` tokens at most. Unusable replies are passed to `forget`, so that the next
    attempt calls the model again. `cached_as` is the name of the model in the keys of cached replies."""

    def __init__(
        self,
        llm: LLM,
        *,
        budget: int = BUDGET,
        max_tokens: int = MAX_TOKENS,
        forget: Callable[[Prompt], Awaitable[None]] | None = None,
        prompts: PromptSet = BUILT_IN,
        cached_as: str = "",
    ) -> None:
        self._llm = llm
        self.cached_as = cached_as or llm.model
        self._instructions = prompts.load("report").render(most=str(_MOST_FINDINGS))
        self._budget = budget
        self.max_tokens = max_tokens
        self._forget = forget

    @property
    def model(self) -> str:
        return self._llm.model

    def prompt(self, facts: Facts) -> Prompt:
        """The prompt."""
        return self._asked(shown(facts, self._budget))

    async def write(self, facts: Facts) -> CommunityReport:
        """The report on these facts. BadReply if the model's reply cannot be read."""
        seen = shown(facts, self._budget)
        asked = self._asked(seen)
        reply = await self._llm.complete(asked, _PURPOSE)
        try:
            found, _ = read(_ReportFound, reply.text, cut_off=reply.finish == "length")
        except Unusable as problem:
            if self._forget:
                await self._forget(asked)
            raise BadReply(
                f"the report of {self._llm.model} on {_named(facts)} is unusable: {problem}. It begins "
                f"{reply.text[:_SHOWN]!r}. Try another model."
            ) from problem
        findings = tuple(_finding(one, seen) for one in found.findings[:_MOST_FINDINGS])
        said = tidy(found.title) or _named(facts), tidy(found.summary), min(max(found.rating, 0.0), 10.0)
        return CommunityReport(*said, tidy(found.reason), findings, self._llm.model)

    async def forget(self, facts: Facts) -> None:
        """Have the model asked again for a report on these facts, even if its reply is stored."""
        if self._forget:
            await self._forget(self.prompt(facts))

    def _asked(self, seen: Prompted) -> Prompt:
        messages = Message("system", self._instructions), Message("user", fence(seen.text))
        return Prompt(messages, self.max_tokens, _SCHEMA)


def shown(facts: Facts, budget: int) -> Prompted:
    """A community's own facts, if they fit into the token budget. If not, the findings on its parts, then the relations
    between the parts, then its most central members, as far as they fit."""
    own = list(_numbered(E=facts.entities, R=facts.relations))
    if not facts.is_whole or tokens.count("\n".join(text for _, text, _ in own)) > budget:
        if facts.parts:
            found = [finding for part in facts.parts for finding in part.findings]
            own = list(_numbered(F=found, R=facts.between, E=facts.entities))
        own = list(_fitting(own, budget))
    return Prompted("\n".join(text for _, text, _ in own), {number: fact for number, _, fact in own})


_Row = tuple[str, str, _Fact]


def _numbered(**kinds: object) -> Iterator[_Row]:
    for letter, facts in kinds.items():
        assert isinstance(facts, list | tuple), "facts come in lists"
        for n, fact in enumerate(facts, 1):
            yield f"{letter}{n}", row(f"{letter}{n}", *_cells(fact)), fact


def _cells(fact: _Fact) -> tuple[str, ...]:
    match fact:
        case EntityFact():
            return fact.name, fact.type, fact.description
        case RelationFact():
            return fact.source_name, fact.target_name, fact.description
        case Finding():
            return fact.summary, fact.text


def _fitting(rows: list[_Row], budget: int) -> Iterator[_Row]:
    for one in rows:
        budget -= tokens.count(f"{one[1]}\n")
        if budget < 0:
            return
        yield one


def _finding(found: _FindingFound, seen: Prompted) -> Finding:
    """A finding with its support, including the support of findings on parts that it refers to."""
    named = [seen.rows[number] for number in found.references if number in seen.rows]
    entities = [fact for fact in named if isinstance(fact, EntityFact)]
    relations = [fact for fact in named if isinstance(fact, RelationFact)]
    parts = [fact for fact in named if isinstance(fact, Finding)]
    chunks = [chunk for chunk in (*(one.chunk for one in relations), *(one.chunk for one in entities)) if chunk]
    return Finding(
        tidy(found.summary),
        tidy(found.text),
        tuple(dict.fromkeys((*(fact.id for fact in entities), *(id_ for one in parts for id_ in one.entities)))),
        tuple(dict.fromkeys((*(fact.id for fact in relations), *(id_ for one in parts for id_ in one.relations)))),
        tuple(dict.fromkeys((*chunks, *(id_ for one in parts for id_ in one.chunks)))),
    )


def _named(facts: Facts) -> str:
    return ", ".join(fact.name for fact in facts.entities[:3])
