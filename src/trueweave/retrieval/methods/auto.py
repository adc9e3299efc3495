"""`auto`: weave for a question that names something, if most chunks are about one subject; community for a question
about all documents; else words and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.errors import ModelFilesMissing
from trueweave.core.events import Noted, tell
from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.core.protocols import Name
from trueweave.retrieval.context import NO_MODEL_FILES, Method, QueryContext
from trueweave.retrieval.methods.combine import Fuse
from trueweave.retrieval.methods.community import Community
from trueweave.retrieval.methods.keyword import Keyword
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.weave import Weave
from trueweave.retrieval.methods.whole import asks_about_the_whole

# Where chunks have subjects, scores of vectors and words found more than ranks; in prose, ranks do (docs/adr/0055).
_BY_SCORE = Fuse(by="score", weights=(0.7, 0.3))


@dataclass(frozen=True, config=CHECKED)
class Auto:
    """Chooses a method for each question: weave where names lead from chunk to chunk, else fuse or keyword.

    Weave is chosen if most chunks are about one subject and the question contains a name from the documents; a passage
    that is first both by meaning and by words then comes first. If the question contains no name, fuse ranks by scores.
    If few chunks are about one subject, it ranks as it does by itself. Keyword is chosen if there are no vectors or no
    embedding model.

    Community is chosen for a question about all documents together, such as "What are the main themes?", if there are
    community reports and the question has neither a name nor a filter. The reports are used as they are: no language
    model is called to find passages.
    """

    top_k: int = Field(default=5, ge=1, le=100, description="How many passages to keep.")
    least_subjects: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="The share of chunks about one subject from which weave is chosen.",
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """What the chosen method finds. The trace shows the choice and the share it was based on."""
        if reason := await context.lacks_vectors():
            return await _by_words(self.top_k, reason, query, context)
        if await self._is_about_all(query, context):
            reports = Community(top_k=self.top_k, with_model=False)
            evidence = await _by_vectors(reports, self.top_k, query, context)
            if evidence.reports and evidence.passages:  # reports may have been written without findings
                context.note("chose", Scored("community", 1.0))
                return evidence
        share = await context.walk.subjects()
        has_subjects = share >= self.least_subjects
        names = await context.walk.names_in(query.text) if has_subjects else []
        context.note("chose", Scored("weave" if names else "fuse", share))  # the trace shows the share as its score
        fused = replace(_BY_SCORE if has_subjects else Fuse(), top_k=self.top_k)
        return await _by_vectors(_AgreedFirst(self.top_k, names) if names else fused, self.top_k, query, context)

    async def _is_about_all(self, query: Query, context: QueryContext) -> bool:
        """Whether reports answer the question: it is about all documents together, and reports cover all."""
        if query.filter or not asks_about_the_whole(query.text) or not await context.report_levels():
            return False
        return not await context.walk.names_in(query.text)


@dataclass(frozen=True)
class _AgreedFirst:
    """Weave, beginning with the passage that is first both by meaning and by words, if one is.

    Weave favours passages that answer together with others. Where one passage answers alone, as in a folder of notes,
    weave may rank related passages above it or leave it out.
    """

    top_k: int
    names: Sequence[Name]

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        weave = Weave(top_k=self.top_k)
        walked = await weave.walk_from(self.names, query, context)
        evidence = await weave.ranked(walked, query, context)
        if not evidence.passages or walked.agreed is None:
            return evidence
        first = await context.passages([Scored(walked.agreed, evidence.passages[0].score)], 1)
        texts = {one.text for one in first}
        others = [one for one in evidence.passages if one.text not in texts]
        return replace(evidence, passages=(*first, *others)[: self.top_k])


@dataclass(frozen=True, config=CHECKED)
class Search:
    """Passages by meaning and by words; by words alone if there are no vectors or no embedding model."""

    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """What fuse or keyword finds."""
        if reason := await context.lacks_vectors():
            return await _by_words(self.top_k, reason, query, context)
        return await _by_vectors(Fuse(top_k=self.top_k), self.top_k, query, context)


async def _by_vectors(method: Method, top_k: int, query: Query, context: QueryContext) -> Evidence:
    """What a method finds that needs the vector of the question; by words if the model turns out to be missing."""
    try:
        return await method.retrieve(query, context)
    except ModelFilesMissing:
        return await _by_words(top_k, NO_MODEL_FILES, query, context)


async def _by_words(top_k: int, reason: str, query: Query, context: QueryContext) -> Evidence:
    context.note("chose", Scored("keyword", 0.0))
    tell(Noted(f"{reason} Passages are found by words alone."))
    return await Keyword(top_k=top_k).retrieve(query, context)
