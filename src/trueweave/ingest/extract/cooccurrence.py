"""What extractors without a language model share: a document's topics, emphasis, and co-occurrence of names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from trueweave.core.record import Chunk, Link, Mention, Source, Span
from trueweave.ingest.extract.spans import LONGEST_NAME, MOST, Finder
from trueweave.text.names import tidy
from trueweave.text.stopwords import INSIDE, OUTLINE

TITLE, HEADING = 9, 8  # emphasis of the topic of a document or a section
NEAREST = 3  # names on either side in a sentence that a name is linked with: a list of 200 makes 600 links, not 20,000
WEAK = 5  # the maximum strength of co-occurrence, regardless of the number of sentences

_ASIDE = re.compile(r"\s*\([^()]*\)$")  # distinguishes titles with the same name, as in "Mercury (planet)"
_NUMBER = re.compile(r"^\W*(?:\d+(?:\.\d+)*[.):]?\s+)?")
_MARKS = " -–—*_`:;,/|·•#"
_DANGLING = frozenset((*INSIDE, "a", "an", "and", "or"))
_MOST_WORDS = 10


class Sighting(NamedTuple):
    """A name in a chunk, with its position and its sentence."""

    name: str
    type: str
    span: Span
    sentence: int


def topics(source: Source, chunks: Sequence[Chunk]) -> list[dict[str, int]]:
    """The topics of each chunk according to the document's outline, with their emphasis.

    The title belongs to the first chunk, so that a long document does not make a hub of it; a heading belongs to the
    chunks of its section. A heading that may occur in any document ("Introduction") is not a topic.
    """
    headings = sorted((place.start, _topic(place.label)) for place in source.places if place.kind == "heading")
    starts = [start for start, _ in headings]
    found: list[dict[str, int]] = []
    for chunk in chunks:
        first, last = bisect_right(starts, chunk.start), bisect_right(starts, chunk.end - 1)
        found.append({topic: HEADING for _, topic in headings[max(first - 1, 0) : last] if topic})
    if found and (title := _topic(source.title)):
        found[0][title] = TITLE
    return found


def spellings(names: Iterable[str]) -> dict[str, str]:
    """Each name by its lower case."""
    return {name.casefold(): name for name in names}


def with_topics(
    text: str, sentences: Sequence[Span], seen: Iterable[Sighting], topics: Iterable[str], types: Mapping[str, str]
) -> list[Sighting]:
    """The names seen, in order, and the positions of the topics, regardless of their spelling."""
    as_topic = spellings(topics)
    found = {one.span: one._replace(name=as_topic.get(one.name.casefold(), one.name)) for one in seen}
    starts, finder = [start for start, _ in sentences], Finder(text)
    for topic in topics:
        type_ = types.get(topic.casefold(), "")
        for span in finder.find(topic):
            found.setdefault(span, Sighting(topic, type_, span, bisect_right(starts, span[0]) - 1))
    return sorted(found.values(), key=lambda sighting: sighting.span)


def mentions(sightings: Iterable[Sighting], topics: Mapping[str, int], types: Mapping[str, str]) -> tuple[Mention, ...]:
    """One mention for each name: the more often and the earlier it occurs, the higher its emphasis.

    A topic that does not occur is mentioned too, with the type of its lower-case name in `types`, if any.
    """
    seen: dict[tuple[str, str], list[Sighting]] = {}
    for sighting in sightings:
        seen.setdefault((sighting.name, sighting.type), []).append(sighting)
    spoken_of = [
        Mention(name, type_, "", topics.get(name) or _emphasis(places), tuple(p.span for p in places[:MOST]))
        for (name, type_), places in seen.items()
    ]
    known = {name for name, _ in seen}
    unseen = [topic for topic in topics if topic not in known]
    return (*spoken_of, *(Mention(name, types.get(name.casefold(), ""), "", topics[name]) for name in unseen))


def links(
    sightings: Sequence[Sighting], sentences: Sequence[Span], topics: Mapping[str, int], told: Sequence[Link] = ()
) -> tuple[Link, ...]:
    """The given links, and weaker ones between names that are near each other in a sentence.

    Co-occurrence has no direction, so both ends are in alphabetical order; without that, it would be two relations. A
    title that the text does not repeat is treated as if it preceded the first sentence.
    """
    related = {frozenset((link.source, link.target)) for link in told}
    seen = {sighting.name for sighting in sightings}
    title = [Sighting(name, "", (0, 0), 0) for name, weight in topics.items() if weight == TITLE and name not in seen]
    strength: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str], list[Span]] = {}
    for sentence, names in _by_sentence([*title, *sightings]).items():
        for n, name in enumerate(names):
            for distance, other in enumerate(names[n + 1 : n + 1 + NEAREST]):
                pair = (name, other) if name < other else (other, name)
                if frozenset(pair) not in related:
                    strength[pair] = strength.get(pair, 0) + (NEAREST - distance)
                    places.setdefault(pair, []).append(sentences[sentence])
    near = (
        Link(*pair, strength=min(together, WEAK), emphasis=min(together, WEAK), spans=tuple(places[pair][:MOST]))
        for pair, together in strength.items()
    )
    return (*told, *near)


def _by_sentence(sightings: Iterable[Sighting]) -> dict[int, list[str]]:
    names: dict[int, dict[str, None]] = {}
    for sighting in sightings:
        names.setdefault(sighting.sentence, {})[sighting.name] = None
    return {sentence: list(there) for sentence, there in names.items()}


def _emphasis(places: Sequence[Sighting]) -> int:
    return min(2 + 2 * (places[0].sentence == 0) + len(places) - 1, 7)


def _topic(label: str) -> str:
    """The name in a title or heading; empty if the heading is generic."""
    plain = _NUMBER.sub("", tidy(label), count=1)
    plain = _trimmed((_ASIDE.sub("", plain) or plain).lstrip(_MARKS))
    words = re.findall(r"\w+", plain.lower())
    if len(words) > _MOST_WORDS or all(word in OUTLINE or word.isdigit() for word in words):
        return ""
    return plain if 1 < len(plain) <= LONGEST_NAME else ""


def _trimmed(label: str) -> str:
    """A title without punctuation and minor words at its end, as in "Pelican Vision -" or "Acme Robotics of"."""
    words = label.split()
    while words and (words[-1] in _DANGLING or not any(map(str.isalnum, words[-1]))):
        words.pop()
    return " ".join(words).rstrip(_MARKS.replace("#", ""))
