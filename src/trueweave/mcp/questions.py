"""The tools `search` and `ask`."""

from __future__ import annotations

from collections.abc import Sequence

from trueweave.core.answers import Answer, Citation, Sentence
from trueweave.core.evidence import Passage
from trueweave.core.parameters import values
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import AskArguments, SearchArguments
from trueweave.mcp.bounds import LONGEST_DESCRIPTION, MOST_CHARACTERS, Room
from trueweave.mcp.entries import READ_ON, entries, passage_entries, passage_text
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import AnswerOutput, CitationEntry, SearchOutput, SentenceEntry
from trueweave.retrieval.methods import registry

_SHORTER = "Not all of the answer fits into one result: ask for less. `document` gives what is around a citation."
_FEWER = "Not all of it fits into one result: search for less, or with a smaller limit."


async def search(trueweave: AsyncTrueweave, asked: SearchArguments) -> ToolReply:
    """The passages that match a text."""
    passing = asked.passing()
    if asked.method:
        method = registry.make(asked.method, {"top_k": asked.limit})
        found = list((await trueweave.retrieve(asked.text, method, filter=passing)).passages)
    else:
        found = await trueweave.search(asked.text, asked.limit, filter=passing)
    return quoted(found, "Nothing was found. `documents` lists what there is; other words may find more.")


def quoted(found: Sequence[Passage], nothing: str) -> ToolReply:
    """Passages, the best first; what to say if there are none."""
    shown = passage_entries(found, Room())
    ways = [READ_ON] if any(one.truncated for one in shown) else []
    ways += [_FEWER] if len(shown) < len(found) else []
    output = SearchOutput(passages=shown, truncated=bool(ways), more=" ".join(ways))
    if not shown:
        return ToolReply(output, nothing)
    told = f"{counted(len(shown), 'passage', 'passages')}, the best first."
    return ToolReply(output, told, tuple(map(passage_text, shown)))


async def ask(trueweave: AsyncTrueweave, asked: AskArguments) -> ToolReply:
    """The answer to a question, with its citations and the sentences that could not be confirmed."""
    answer = await trueweave.ask(**values(asked.asked()))
    room = Room()
    text = room.text(answer.text, MOST_CHARACTERS // 2)
    cited = entries(answer.citations, _citation, room)
    doubtful = entries(answer.doubtful, _sentence, room)
    disagreed = [room.line(one.line, LONGEST_DESCRIPTION) for one in answer.disagreements if not room.is_full()]
    more = _SHORTER if room.is_cut else ""
    output = AnswerOutput(
        answer=text,
        known=answer.known,
        citations=cited,
        unconfirmed=doubtful,
        disagreements=disagreed,
        method=answer.evidence.trace.method,
        truncated=bool(more),
        more=more,
    )
    return ToolReply(output, _told(answer), tuple(_quoted(output)))


def _told(answer: Answer) -> str:
    if not answer.known:
        return answer.text
    told = f"An answer with {counted(len(answer.citations), 'citation', 'citations')}."
    if answer.doubtful:
        told += f" {counted(len(answer.doubtful), 'sentence is', 'sentences are')} not confirmed by the check."
    return f"{told} It was cut off at its longest." if answer.finish == "length" else told


def _quoted(output: AnswerOutput) -> list[str]:
    parts = [output.answer] if output.known else []
    parts += [
        f"[{one.number}] {one.source}\nuri: {one.uri}, characters {one.start} to {one.end}\n"
        f"{'quoted' if one.verbatim else 'nearest'}: {one.quote}"
        for one in output.citations
    ]
    parts += [f"not confirmed: {one.text}\n{one.status}: {one.reason}" for one in output.unconfirmed]
    return parts + [f"sources disagree: {one}" for one in output.disagreements]


def _citation(one: Citation, room: Room) -> CitationEntry:
    uri = one.passage.uri if room.fits(one.passage.uri) else ""
    quote = room.text(one.quote, LONGEST_DESCRIPTION)
    return CitationEntry(one.number, uri, room.line(one.source), one.start, one.end, quote, one.verbatim)


def _sentence(one: Sentence, room: Room) -> SentenceEntry:
    text = room.text(one.text, LONGEST_DESCRIPTION)
    return SentenceEntry(text, one.verdict, room.text(one.reason, LONGEST_DESCRIPTION))
