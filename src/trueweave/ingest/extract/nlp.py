"""`nlp`: names, noun phrases and subject-verb-object relations from a spaCy pipeline, without a language model.

Named entities have a type, noun phrases of two or more words are concepts. Relations come from verbs and their
dependents, and, weaker, from co-occurrence in a sentence. Pronouns, bare numbers and noun phrases of one common word
are ignored; a date is an entity if it has a year, because questions refer to years.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from trueweave.core.errors import ConfigError, InvalidDocument
from trueweave.core.events import chunks_done
from trueweave.core.record import Chunk, Extraction, Link, Source, Span
from trueweave.ingest.extract.cooccurrence import Sighting, links, mentions, spellings, topics, with_topics
from trueweave.ingest.extract.spans import LONGEST_NAME
from trueweave.ingest.extract.triples import Triple, triples
from trueweave.text.names import key, tidy

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as Words

VERSION = "1"  # version of the rules below: changes with their results
PIPELINE = "en_core_web_sm"
CONCEPT = "concept"

# The default types of the settings, so that the findings of all extractors match; other labels are kept.
_TYPES = {
    "PERSON": "person", "PER": "person", "ORG": "organization", "NORP": "organization", "GPE": "place", "LOC": "place",
    "FAC": "place", "WORK_OF_ART": "work", "PRODUCT": "work", "LAW": "work",
}  # fmt: skip
_NO_NAMES = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"})
_YEAR = re.compile(r"\b\d{4}s?\b")
_MOST_WORDS = 8
_BATCH = 64
_IN_A_ZONE = 1_000  # chunks
_NOT_NEEDED = ["lemmatizer"]  # takes a sixth of the time, and only some verbs need it


class NlpExtractor:
    """Extraction by an installed spaCy pipeline, named by its package.

    The pipeline is loaded at the first extraction and runs in one thread, because it is not thread-safe.
    """

    def __init__(self, pipeline: str = PIPELINE) -> None:
        self._name = pipeline
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trueweave-nlp")
        self._pipeline: _Pipeline | None = None

    @cached_property
    def fingerprint(self) -> str:
        # Looked up once: it scans all installed packages, and every document needs it.
        return key("nlp", VERSION, self._name, *_versions(self._name)).hex

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """The findings for each chunk, in order. The first has a note on what the pipeline lacks."""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._extract, source, chunks, chunks_done(source.uri, len(chunks))
        )

    def _extract(self, source: Source, chunks: Sequence[Chunk], told: Callable[[int], None]) -> list[Extraction]:
        if self._pipeline is None:
            self._pipeline = _Pipeline(self._name)
        seen: list[_Seen] = []
        for done, one in enumerate(self._pipeline.read(source.uri, chunks), 1):
            seen.append(one)
            told(done)
        types = _types(sighting for one in seen for sighting in one.sightings)
        parts = zip(chunks, seen, topics(source, chunks), strict=True)
        found = [_extraction(chunk.text, one, about, types) for chunk, one, about in parts]
        return [
            replace(one, notes=(*self._pipeline.lacks, *one.notes)) if n == 0 else one for n, one in enumerate(found)
        ]


class _Seen(NamedTuple):
    """What is kept of a parsed chunk."""

    sightings: list[Sighting]
    told: list[Link]
    sentences: list[Span]


class _Pipeline:
    """A loaded spaCy pipeline, and what it lacks."""

    def __init__(self, name: str) -> None:
        _versions(name)
        import spacy  # an extra, and slow to import

        self._name = name
        self._zone, self._in_zone = ExitStack(), 0
        self._nlp = nlp = spacy.load(name, disable=_NOT_NEEDED)
        parses, names = nlp.has_pipe("parser"), nlp.has_pipe("ner")
        if not parses and not names:
            raise ConfigError(f"the spaCy pipeline {name} has neither a parser nor ner; choose one that has both")
        if not parses:
            nlp.add_pipe("sentencizer")
        self._lemmatise = _lemmatiser(nlp)
        self._has_phrases = parses and nlp.vocab.get_noun_chunks is not None
        self.lacks = tuple(
            f"the spaCy pipeline {name} {lack}"
            for lack, has in (
                ("has no parser: relations are only of names in one sentence", parses),
                ("has no ner: entities are only noun phrases", names),
                ("finds no noun phrases: entities are only names", self._has_phrases),
            )
            if not has
        )

    def read(self, uri: str, chunks: Sequence[Chunk]) -> Iterator[_Seen]:
        """The findings of each chunk. The parsed text is released immediately, because it is large."""
        for chunk in chunks:
            if len(chunk.text) > self._nlp.max_length:
                raise InvalidDocument(
                    f"{uri}: the chunk at character {chunk.start} has {len(chunk.text)} characters; the spaCy "
                    f"pipeline {self._name} accepts {self._nlp.max_length}. Use smaller chunks."
                )
        self._forget_words(len(chunks))
        for doc in self._nlp.pipe((chunk.text for chunk in chunks), batch_size=_BATCH):
            yield self._seen(doc)

    def _forget_words(self, coming: int) -> None:
        """Start a new memory zone after some chunks; without that, the pipeline keeps every word that it has seen. A
        zone per document would make it learn common words again and again, which takes a fifth of the time."""
        if self._in_zone + coming > _IN_A_ZONE or not self._in_zone:
            self._zone.close()
            self._zone.enter_context(self._nlp.memory_zone())
            self._in_zone = 0
        self._in_zone += coming

    def _seen(self, doc: Doc) -> _Seen:
        sentences = list(doc.sents)
        number = [n for n, sentence in enumerate(sentences) for _ in sentence]
        at: dict[int, Sighting] = {}
        for words, type_ in self._names(doc):
            span = words.start_char, words.end_char
            sighting = Sighting(tidy(words.text), type_, span, number[words.start])
            for token in words:
                at.setdefault(token.i, sighting)
        spans = [(sentence.start_char, sentence.end_char) for sentence in sentences]
        told = self._told(triples(doc, lambda token: token.i in at), at, spans)
        return _Seen(list(dict.fromkeys(at.values())), told, spans or [(0, len(doc.text))])

    def _names(self, doc: Doc) -> Iterator[tuple[Words, str]]:
        """Named entities with their types, then the noun phrases that none of them heads."""
        named: set[int] = set()
        for entity in doc.ents:
            if words := _trimmed(entity, _is_article):
                named.update(range(entity.start, entity.end))
                if _is_name(entity):
                    yield words, _TYPES.get(entity.label_, entity.label_.lower())
        for phrase in doc.noun_chunks if self._has_phrases else ():
            if phrase.root.i not in named and (words := _trimmed(phrase, _is_weak)) and _is_concept(words):
                yield words, CONCEPT

    def _told(self, said: Iterable[Triple], at: Mapping[int, Sighting], sentences: Sequence[Span]) -> list[Link]:
        links: dict[tuple[str, str, str], Link] = {}
        for triple in said:
            source, target = at[triple.source.i], at[triple.target.i]
            if source.name == target.name:
                continue
            sentence = target.sentence
            words = (self._lemmatise(triple.verb),) if triple.verb else ()
            emphasis, spans = (6 if sentence == 0 else 4), (sentences[sentence],)
            link = Link(source.name, target.name, triple.predicate, words, triple.strength, emphasis, spans)
            links.setdefault((source.name, target.name, triple.predicate), link)
        return list(links.values())


def _extraction(text: str, seen: _Seen, about: Mapping[str, int], types: Mapping[str, str]) -> Extraction:
    typed = (one._replace(type=types[one.name.casefold()]) for one in seen.sightings)
    sightings = with_topics(text, seen.sentences, typed, about, types)
    as_topic = spellings(about)
    told = [link for link in (_renamed(one, as_topic) for one in seen.told) if link.source != link.target]
    spoken_of = mentions(sightings, about, types)
    notes = () if spoken_of else ("no name and no noun phrase in this chunk",)
    named = [one for one in sightings if one.type != CONCEPT]
    return Extraction(spoken_of, links(named, seen.sentences, about, told), notes)


def _renamed(link: Link, names: Mapping[str, str]) -> Link:
    source, target = (names.get(end.casefold(), end) for end in (link.source, link.target))
    return replace(link, source=source, target=target)


def _types(sightings: Iterable[Sighting]) -> dict[str, str]:
    """One type for each name in a document: its most frequent type, with types of names before concepts.

    A small pipeline often types one entity in two ways, which would split it.
    """
    votes: dict[str, Counter[str]] = {}
    for sighting in sightings:
        votes.setdefault(sighting.name.casefold(), Counter())[sighting.type] += 1
    return {name: min(cast, key=lambda type_: (type_ == CONCEPT, -cast[type_], type_)) for name, cast in votes.items()}


def _trimmed(words: Words, unwanted: Callable[[Token], bool]) -> Words | None:
    """The words without unwanted ones at the start and without punctuation at either end; None if nothing is left."""
    start, end = words.start, words.end
    while start < end and (unwanted(words.doc[start]) or _is_mark(words.doc[start])):
        start += 1
    while start < end and _is_mark(words.doc[end - 1]):
        end -= 1
    return words.doc[start:end] if start < end else None


def _is_mark(token: Token) -> bool:
    return token.tag_ == "POS" or not any(map(str.isalnum, token.text))


def _is_article(token: Token) -> bool:
    return token.pos_ == "DET" or token.lower_ in ("the", "a", "an")


def _is_weak(token: Token) -> bool:
    return token.is_stop or token.like_num or token.pos_ in ("DET", "PRON", "NUM", "ADP", "ADV", "CCONJ", "SCONJ")


def _is_name(entity: Words) -> bool:
    if entity.label_ in _NO_NAMES or _is_long(entity):
        return False
    if entity.label_ == "DATE":
        return bool(_YEAR.search(entity.text))
    return entity.label_ != "NORP" or entity.root.pos_ != "ADJ"  # "American" is an adjective


def _is_concept(words: Words) -> bool:
    """Whether a noun phrase is specific enough to be an entity: a name that ner missed, or at least two words."""
    if words.root.pos_ == "PROPN":
        return len(words.text) > 1 and not words.text.islower() and not _is_long(words)
    return words.root.pos_ == "NOUN" and not words.root.is_stop and len(words) > 1 and not _is_long(words)


def _is_long(words: Words) -> bool:
    return len(words) > _MOST_WORDS or len(words.text) > LONGEST_NAME


def _lemmatiser(nlp: Language) -> Callable[[Token], str]:
    """How a verb is lemmatised: by rule for the few that matter, or by the pipeline."""
    from spacy.pipeline import Lemmatizer

    if "lemmatizer" not in nlp.component_names:
        return lambda token: token.lemma_ or token.lower_
    lemmatiser = nlp.get_pipe("lemmatizer")
    if isinstance(lemmatiser, Lemmatizer):
        return lambda token: lemmatiser.lemmatize(token)[0]
    nlp.enable_pipe("lemmatizer")  # it cannot be asked for single words
    return lambda token: token.lemma_ or token.lower_


def _versions(pipeline: str) -> tuple[str, str]:
    """The versions of spaCy and of the pipeline. ConfigError if one is not installed."""
    try:
        spacy = importlib.metadata.version("spacy")
    except importlib.metadata.PackageNotFoundError as error:
        raise ConfigError('extraction by nlp needs spaCy: pip install "trueweave[nlp]"') from error
    installed = {entry.name: entry.dist for entry in importlib.metadata.entry_points(group="spacy_models")}
    if package := installed.get(pipeline):
        return spacy, package.version
    raise ConfigError(
        f"the spaCy pipeline {pipeline!r} is not installed: `python -m spacy download {pipeline}`, or set another. "
        f"Installed: {', '.join(sorted(installed)) or 'none'}."
    )
