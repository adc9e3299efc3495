"""`guess`: guesses a passage that would answer the question from facts of the graph, and finds passages like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.errors import ConfigError
from trueweave.core.evidence import Evidence, Query
from trueweave.core.graph import Entity, Relation
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import forget_reply
from trueweave.graph.aggregate import harmonic_emphasis
from trueweave.models.prompts import fence
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.keywords import keywords
from trueweave.retrieval.methods.merge import in_turn
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.ranks import together

_PURPOSE = Purpose("guess")


@dataclass(frozen=True, config=CHECKED)
class Guess:
    """The chunks most like a passage that a language model makes up from the graph's facts about the question."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "model", "graph"})

    entities_top_k: int = Field(default=5, ge=1, le=100, description="Entities and relations to find for each keyword.")
    relations_each: int = Field(
        default=5, ge=1, le=50, description="How many of each entity's strongest relations to show the model."
    )
    relations_top_k: int = Field(default=20, ge=1, le=200, description="How many relations to show the model in total.")
    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    guess_tokens: int = Field(default=400, ge=50, le=2000, description="How long the guessed passage may be.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chunks nearest to the guess, and the facts it was made from. The guess itself is not evidence."""
        vectors = await context.embed((await keywords(query, context)).low)
        near = await context.entities_near(vectors, self.entities_top_k)
        entities = [hit.item for hit in together(near, lambda entity: entity.id).values()]
        stated = [
            one.item.relation for some in await context.relations_near(vectors, self.entities_top_k) for one in some
        ]
        around = await context.neighbourhood([entity.id for entity in entities], 1)
        # Every entity gets its share, however strong the relations of another are.
        of_each = [[r for r in around if entity.id in (r.source, r.target)] for entity in entities]
        in_order = in_turn([_strongest(some)[: self.relations_each] for some in (stated, *of_each)])
        relations = list({relation.id: relation for relation in in_order}.values())[: self.relations_top_k]
        guessed = await self._guess(query.text, entities, relations, context)
        [passages] = await context.chunks_near(await context.embed([guessed], "document"), self.top_k)
        return Evidence(tuple(passages), tuple(entities), tuple(relations))

    async def _guess(
        self, question: str, entities: Sequence[Entity], relations: Sequence[Relation], context: QueryContext
    ) -> str:
        if context.llm is None:
            raise ConfigError(
                "the method guess needs a language model. Set model in trueweave.toml, or use another method: "
                "`trueweave methods` lists them."
            )
        facts = [f"{e.name}: {e.summary or e.description or e.type}" for e in entities]
        facts += [f"{r.source_name} -> {r.target_name}: {r.summary or r.description}" for r in relations]
        asked = f"{fence(question)}\n\n{fence(chr(10).join(facts))}"
        messages = Message("system", context.prompts.load("guess").text), Message("user", asked)
        prompt = Prompt(messages, self.guess_tokens)
        guessed = (await context.llm.complete(prompt, _PURPOSE)).text.strip()
        if not guessed:
            await forget_reply(context.llm, prompt)
        return guessed or question


def _strongest(relations: Sequence[Relation]) -> list[Relation]:
    return sorted(relations, key=lambda relation: (-strength(relation), relation.id))


def strength(relation: Relation) -> float:
    """The harmonic mean of a relation's emphasis, times how often it is stated."""
    return harmonic_emphasis(relation.emphasis) * relation.count
