"""Text search and names in many languages: each stemmed by its own rules, scripts without spaces by characters."""

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Mention
from trueweave.methods import Keyword
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers

# A sentence in each language, and words that find it: as they stand in it, or in another form where PostgreSQL's
# stemmer for the language knows it.
SENTENCES = {
    "english": (
        "The old bridges over the river were rebuilt by the engineers after the flood.",
        ["bridge", "rebuilt", "engineer", "flooding"],
    ),
    "german": (
        "Die alten Häuser am Fluss wurden nach dem Hochwasser von den Handwerkern nicht wieder aufgebaut.",
        ["Haus", "Handwerker", "Hochwasser", "alte"],
    ),
    "french": (
        "Les anciennes maisons du village ont été reconstruites par les habitants dans la vallée.",
        ["maison", "habitant", "village", "reconstruite"],
    ),
    "spanish": (
        "Los ingenieros construyeron los puentes de la ciudad en el siglo que fue el más próspero.",
        ["puente", "ingeniero", "próspera", "construyó"],
    ),
    "italian": (
        "I pescatori della città sono partiti con le barche per il mare e non sono tornati.",
        ["barca", "pescatore", "mare", "partito"],
    ),
    "russian": (
        "Инженеры построили новые мосты в городе, и это был первый из них за сто лет.",
        ["мост", "инженер", "город", "новый"],
    ),
    "turkish": (
        "Köprüler ve evler bir mimar için çok önemli olarak bu şehirde inşa edildi.",
        ["köprü", "evler", "şehir", "mimar"],
    ),
    "arabic": ("بنى المهندسون الجسور في المدينة على النهر من الحجر.", ["الجسور", "المدينة", "النهر"]),
    "hindi": ("इंजीनियरों ने नदी पर पुल बनाया और यह शहर के लिए है।", ["नदी", "पुल", "शहर"]),
    "chinese": ("工程师在长江上修建了一座新的大桥,洪水之后又重建了学校。", ["工程师", "长江", "大桥", "洪水", "学校"]),
    "japanese": (
        "東京の技術者は川に新しい橋を建設しました。コンピューターも使いました。",
        ["東京", "技術者", "建設", "コンピューター"],
    ),
    "korean": ("서울의 기술자들은 한강에 새로운 다리를 건설했습니다.", ["서울", "한강", "다리", "건설"]),
    "thai": ("วิศวกรสร้างสะพานใหม่ข้ามแม่น้ำเจ้าพระยาในกรุงเทพ", ["วิศวกร", "สะพาน", "แม่น้ำ", "กรุงเทพ"]),
}


@pytest.fixture
async def polyglot(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents(Document(name, (Chunk(text),)) for name, (text, _) in SENTENCES.items())
    return trueweave


async def found(index: AsyncTrueweave, question: str) -> list[str]:
    return [passage.uri for passage in (await index.retrieve(question, Keyword())).passages]


async def test_words_are_found_in_each_language_as_they_stand_and_in_other_forms(polyglot: AsyncTrueweave) -> None:
    missed = [
        (uri, word) for uri, (_, words) in SENTENCES.items() for word in words if uri not in await found(polyglot, word)
    ]
    assert missed == []


async def test_words_that_are_not_there_are_not_found(polyglot: AsyncTrueweave) -> None:
    for word in ("大阪城", "부산", "ภูเขา", "вертолёт", "Hubschrauber"):
        assert await found(polyglot, word) == [], word


async def test_a_question_in_two_scripts_finds_both(polyglot: AsyncTrueweave) -> None:
    assert {"chinese", "german"} <= set(await found(polyglot, "长江 Hochwasser"))


@pytest.mark.parametrize(
    ("text", "word"),
    [("“hello” she said", "hello"), ("from 1939–1945", "1945"), ("पुल बनाए। नदी", "बनाए"), ("l’été", "été")],
)
async def test_signs_beside_a_word_do_not_hide_it(trueweave: AsyncTrueweave, text: str, word: str) -> None:
    await trueweave.add_documents([Document("a", (Chunk(text),))])
    assert await found(trueweave, word) == ["a"]


@pytest.mark.parametrize("word", ["IŞIK", "Işık", "ışık", "İZMİR", "İzmir", "izmir", "ISPARTA", "Isparta"])
async def test_capitals_of_both_turkish_letters_i_find_their_own(trueweave: AsyncTrueweave, word: str) -> None:
    said = {"a": "Işık ve İzmir ile Isparta", "b": "isik ve ızmir ile isparta"}
    await trueweave.add_documents(
        Document(uri, (Chunk(text),), metadata={"language": "tr"}) for uri, text in said.items()
    )
    assert await found(trueweave, word) == ["a"]


async def test_a_character_alone_is_found_where_it_stands_alone(trueweave: AsyncTrueweave) -> None:
    """Pairs of characters are what is searched: the page on adding documents says so."""
    await trueweave.add_documents(
        [Document("alone", (Chunk("橋 is a bridge"),)), Document("within", (Chunk("大橋です"),))]
    )
    assert await found(trueweave, "橋") == ["alone"]


async def test_a_language_that_is_given_counts(trueweave: AsyncTrueweave) -> None:
    """Two words are too few to tell a language by."""
    texts = {"told": {"language": "de"}, "untold": {}}
    await trueweave.add_documents(Document(uri, (Chunk("Alte Häuser"),), metadata=data) for uri, data in texts.items())
    assert await found(trueweave, "Haus") == ["told"]


async def test_a_language_that_is_given_later_changes_the_search_and_stays_exact(trueweave: AsyncTrueweave) -> None:
    for metadata in ({}, {"language": "german"}, {"language": "fr"}, {}, {"language": "de"}):
        await trueweave.add_documents([Document("a", (Chunk("Alte Häuser"),), metadata=metadata)])
        assert (await found(trueweave, "Haus") == ["a"]) == (metadata.get("language") in ("german", "de"))
        assert (await trueweave.maintenance.verify()).exact


async def test_all_languages_come_and_go_exactly(polyglot: AsyncTrueweave) -> None:
    assert (await polyglot.maintenance.verify()).exact
    await polyglot.remove([name for name in SENTENCES if name != "thai"])
    assert await found(polyglot, "สะพาน") == ["thai"]
    assert (await polyglot.maintenance.verify()).exact
    await polyglot.remove(["thai"])
    async with polyglot.workspace.transaction() as tx:
        counted = "SELECT (SELECT count(*) FROM text_language), (SELECT count(*) FROM word)"
        assert await (await tx.execute(counted)).fetchone() == (0, 0)


async def test_the_stop_words_of_a_question_do_not_count_in_other_languages(trueweave: AsyncTrueweave) -> None:
    """What is a stop word in English is a rare word of the one German text that quotes it."""
    texts = {f"en{n}": f"Bridge {n} over the river is one of the old ones and was built in stone." for n in range(20)}
    texts["de"] = "Der Film heißt: Who was the one that did it, and when is it over?"
    await trueweave.add_documents(
        Document(uri, (Chunk(text),), metadata={"language": uri[:2]}) for uri, text in texts.items()
    )
    assert "de" not in await found(trueweave, "When was the bridge that is over the river built, and who did it?")


async def test_names_without_spaces_around_them_are_found_in_texts_and_questions(trueweave: AsyncTrueweave) -> None:
    said = {
        "a": Chunk("夏目漱石は東京で生まれた。", mentions=(Mention("夏目漱石"), Mention("東京"))),
        "b": Chunk("彼の作品では夏目漱石の生活が描かれる。"),
        "c": Chunk("서울은 한국의 수도이다.", mentions=(Mention("서울"),)),
    }
    await trueweave.add_documents(Document(uri, (chunk,)) for uri, chunk in said.items())
    readers = open_readers(VectorLayoutCache(trueweave.workspace), Filter())
    assert readers.walk
    asked = {
        name.name: name.chunks for name in await readers.walk.names_in("夏目漱石はどこで生まれましたか。서울에서?")
    }
    assert set(asked.values()) == {2, 1}
    assert (await trueweave.maintenance.verify()).exact
