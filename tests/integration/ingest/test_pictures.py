"""Pictures of documents: read from each format, described once, and paid for once."""

import asyncio
import base64
import io
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import docx
import numpy
import psycopg
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from PIL import Image
from pptx import Presentation

from tests.scanned import PdfPage, write_pdf
from trueweave import AsyncTrueweave, Citation, Passage, Settings, Source
from trueweave.core.model_calls import Purpose
from trueweave.core.record import Picture, Place
from trueweave.errors import BudgetReached
from trueweave.events import Extracted, Failed
from trueweave.ingest.describe import with_descriptions
from trueweave.ingest.loading import documents
from trueweave.ingest.loading.documents import Parsed, with_pictures
from trueweave.ingest.loading.web import Web
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.testing import Fault, ModelServer, Trouble
from trueweave.testing.model_server import Asked

MODEL = "vllm/eyes"
CAPTION = "Figure 1: Ships in the harbour."
DESCRIPTION = "Three ships lie in the harbour of Hamburg."


def photo(seed: int = 0, size: tuple[int, int] = (240, 160)) -> Image.Image:
    noise = numpy.random.default_rng(seed).integers(0, 255, (size[1], size[0]))
    return Image.fromarray(noise.astype("uint8"), "L")


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def load(loader: Parsed | Web, path: Path, model: str = MODEL) -> Source:
    [source] = with_pictures(loader, model).load(path, "u")
    assert isinstance(source, Source)
    return source


def pdf(path: Path, *, caption: str = CAPTION, page: str = "The first lines of this page are text.") -> Path:
    made = PdfPage(image=photo(), box=(100, 200, 300, 400)).text(50, 50, page).text(110, 418, caption)
    return write_pdf(path, [PdfPage().text(50, 50, "A page without any picture on it."), made])


def test_a_picture_of_a_pdf_has_its_caption_page_and_box(tmp_path: Path) -> None:
    source = load(documents.pdf(), pdf(tmp_path / "a.pdf"))
    [picture] = source.pictures
    assert source.text[picture.start : picture.end] == picture.caption == CAPTION
    assert (picture.media_type, picture.width, picture.height) == ("image/png", 240, 240)
    assert picture.box == (0.1681, 0.2375, 0.5042, 0.4751)
    place = next(place for place in source.places if place.kind == "picture")
    assert place == Place(picture.start, "picture", CAPTION, 0, None, picture.box, picture.end)


def test_without_a_model_the_caption_is_the_passage_and_no_picture_is_read(tmp_path: Path) -> None:
    source = load(documents.pdf(), pdf(tmp_path / "a.pdf"), "")
    assert source.pictures == ()
    [place] = [place for place in source.places if place.kind == "picture"]
    assert (place.label, place.box) == (CAPTION, (0.1681, 0.2375, 0.5042, 0.4751))


def test_backgrounds_icons_and_repeated_pictures_are_left_out(tmp_path: Path) -> None:
    text = "This page has enough letters not to be taken for a scan."
    pages = [
        PdfPage(image=photo(), box=(100, 200, 300, 400)).text(50, 50, text),
        PdfPage(image=photo(), box=(100, 200, 300, 400)).text(50, 50, text),
        PdfPage(image=photo(1)).text(50, 50, text),
        PdfPage(image=photo(2), box=(100, 200, 120, 220)).text(50, 50, text),
        PdfPage(image=photo(3, (40, 40)), box=(100, 200, 300, 400)).text(50, 50, text),
    ]
    assert len(load(documents.pdf(), write_pdf(tmp_path / "a.pdf", pages)).pictures) == 1


def test_word_has_pictures_with_their_alternative_text_and_formulas(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Before.")
    document.add_picture(io.BytesIO(png(photo())))
    document.element.body.xpath(".//wp:docPr")[0].set("descr", "Ships in the harbour")
    formula = (
        f"<m:oMath {nsdecls('m')}><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:sSup><m:e><m:r><m:t>a</m:t></m:r></m:e>"
        "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:num><m:den><m:rad><m:deg/><m:e><m:r><m:t>b</m:t></m:r>"
        "</m:e></m:rad></m:den></m:f></m:oMath>"
    )
    document.add_paragraph("It is ")._p.append(parse_xml(formula))
    document.save(str(tmp_path / "a.docx"))
    source = load(documents.word(), tmp_path / "a.docx")
    assert source.text == "Before.\n\nShips in the harbour\n\nIt is $x=\\frac{a^{2}}{\\sqrt{b}}$"
    assert [picture.caption for picture in source.pictures] == ["Ships in the harbour"]
    assert load(documents.word(), tmp_path / "a.docx", "").text == source.text


def test_a_slide_has_pictures_with_their_box(tmp_path: Path) -> None:
    slides = Presentation()
    size = slides.slide_width, slides.slide_height
    assert size[0]
    assert size[1]
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    slide.shapes.add_picture(io.BytesIO(png(photo())), size[0] // 4, 0, size[0] // 2, size[1] // 2)
    slides.save(str(tmp_path / "a.pptx"))
    [picture] = load(documents.slides(), tmp_path / "a.pptx").pictures
    assert picture.box == (0.25, 0.0, 0.75, 0.5)


def test_html_has_the_pictures_in_it_and_its_formulas(tmp_path: Path) -> None:
    data = base64.b64encode(png(photo())).decode()
    page = (
        f'<p>Before.<img src="data:image/png;base64,{data}" alt="Ships &amp; boats"><img alt="Elsewhere" src="x.png">'
        '<p>Euler: <math><mi>e</mi><annotation encoding="application/x-tex">e^{i\\pi}+1=0</annotation></math> and '
        '<script type="math/tex">a &lt; b</script>.<script>alert(1)</script>'
        '<p><img src="data:image/png;base64,AAAA" alt=Damaged>'
    )
    (tmp_path / "a.html").write_text(page)
    source = load(Web(), tmp_path / "a.html")
    text = "Before.\n\nShips & boats\n\nElsewhere\n\nEuler: $e^{i\\pi}+1=0$ and $a < b$.\n\nDamaged"
    assert source.text == text
    assert [picture.caption for picture in source.pictures] == ["Ships & boats"]
    assert source.notes == ("1 picture was not described: it is damaged, or has a format that is not read",)
    assert load(Web(), tmp_path / "a.html", "").text == text


def test_an_image_without_text_is_a_document_if_a_model_describes_it(tmp_path: Path) -> None:
    photo(size=(2000, 1000)).save(tmp_path / "a.png")
    source = load(replace(documents.image(), ocr="off"), tmp_path / "a.png")
    [picture] = source.pictures
    assert (source.text, picture.width, picture.height) == ("Picture", 1536, 768)


def test_descriptions_move_the_places_behind_them() -> None:
    picture = Picture(3, 6, b"", "image/png", 1, 1, MODEL)
    places = (Place(0, "page", "1"), Place(3, "picture", "", 0, None, None, 6), Place(8, "page", "2"))
    source = Source("u", "a\n\nPic\n\nb\n\nPic", places=places, pictures=(picture, replace(picture, start=11, end=14)))
    made = with_descriptions(source, ["one", ""])
    assert made.text == "a\n\nPic\none\n\nb\n\nPic"
    assert [(place.start, place.end) for place in made.places] == [(0, None), (3, 10), (12, None)]


def test_a_citation_has_the_box_around_its_blocks_on_its_first_page() -> None:
    places = (
        Place(0, "page", "1"),
        Place(0, "block", "", 0, None, (0.1, 0.1, 0.5, 0.2), 3),
        Place(5, "block", "", 0, None, (0.2, 0.3, 0.9, 0.4), 8),
        Place(10, "page", "2"),
        Place(10, "block", "", 0, None, (0.0, 0.0, 1.0, 1.0), 13),
    )
    passage = Passage(UUID(int=1), "u", "", "one\n\ntwo\n\nsix", 0, 1.0, "1", (), places)
    cited = Citation(1, passage, "one", 0, 3, verbatim=True)
    assert cited.box == (0.1, 0.1, 0.5, 0.2)
    assert replace(cited, start=1, end=11).box == (0.1, 0.1, 0.9, 0.4)
    assert replace(cited, start=10, end=13).box == (0.0, 0.0, 1.0, 1.0)
    assert replace(cited, passage=replace(passage, places=places[:1])).box is None


# --- from the file to the answer ------------------------------------------------------------------------


def settings(url: str, server: ModelServer, **more: Any) -> Settings:
    usual = {"workspace": "test", "database_url": url, "model_urls": {"vllm": server.url}, "models": {"vision": MODEL}}
    return Settings(**{**usual, "prices": {MODEL: (Decimal(1), Decimal(10))}, **more})


def describing(asked: list[Asked]) -> Callable[[Asked], str]:
    def script(one: Asked) -> str:
        asked.append(one)
        return DESCRIPTION

    return script


async def test_a_description_is_a_passage_with_page_and_box_and_is_paid_once(url: str, tmp_path: Path) -> None:
    asked: list[Asked] = []
    first, second = pdf(tmp_path / "a.pdf"), pdf(tmp_path / "b.pdf", page="Another document has the same picture.")
    async with (
        ModelServer(describing(asked)) as server,
        AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave,
    ):
        estimate = await trueweave.estimate(first, second)
        assert (estimate.pictures, estimate.vision_model) == (1, MODEL)
        assert estimate.vision_price
        assert asked == []
        await trueweave.add(first, second)
        again = await trueweave.estimate(pdf(tmp_path / "c.pdf", page="A third one."))
        assert (again.pictures, again.vision_price) == (0, Decimal(0))
        evidence = await trueweave.retrieve("Which ships are in Hamburg?", "keyword")
        [spent] = [one for one in await trueweave.budget.receipt() if one.stage == "describe"]
    assert spent.calls == len(asked) == 1
    [image] = asked[0].messages[0].images
    assert (image.media_type, image.data[:4]) == ("image/png", b"\x89PNG")
    passage = evidence.passages[0]
    assert f"{CAPTION}\n{DESCRIPTION}" in passage.text
    [place] = [place for place in passage.places if place.kind == "picture"]
    assert place.box == (0.1681, 0.2375, 0.5042, 0.4751)
    start = passage.start + passage.text.index("Hamburg")
    assert passage.at(start)[0] == "2"
    assert place.end is not None
    assert place.start <= start < place.end


async def test_a_picture_that_the_model_declines_keeps_its_caption_and_a_note_says_so(url: str, tmp_path: Path) -> None:
    events: list[object] = []
    async with (
        ModelServer(trouble=Trouble.always(Fault.FILTERED)) as server,
        AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave,
    ):
        await trueweave.add(pdf(tmp_path / "a.pdf"), listener=events.append)
        evidence = await trueweave.retrieve("ships harbour", "keyword")
    assert CAPTION in evidence.passages[0].text
    [note] = next(event.notes for event in events if isinstance(event, Extracted))
    assert note.startswith("picture 1 (page 2) could not be described: vllm/eyes")
    assert "content filter" in note


async def test_a_refusal_fails_the_document_and_retry_describes_it(url: str, tmp_path: Path) -> None:
    events: list[object] = []
    async with (
        ModelServer(lambda _: DESCRIPTION, trouble=Trouble(at={0: Fault.BAD_KEY})) as server,
        AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave,
    ):
        await trueweave.add(pdf(tmp_path / "a.pdf"), Source("b.txt", "It is not held up."), listener=events.append)
        [failed] = [event for event in events if isinstance(event, Failed)]
        assert failed.error.startswith("its pictures cannot be described: vllm/eyes")
        assert await trueweave.maintenance.retry() == 1
        evidence = await trueweave.retrieve("Hamburg", "keyword")
    assert DESCRIPTION in evidence.passages[0].text


async def test_over_budget_a_document_waits_and_is_described_once_the_budget_is_raised(
    url: str, tmp_path: Path
) -> None:
    async with (
        ModelServer(lambda _: DESCRIPTION) as server,
        AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave,
    ):
        await trueweave.budget.allow(price=Decimal("0.0001"))
        with pytest.raises(BudgetReached):
            await trueweave.add(pdf(tmp_path / "a.pdf"))
        assert server.calls == []
        await trueweave.budget.allow(price=Decimal(1))
        await trueweave.add(pdf(tmp_path / "a.pdf"))
        evidence = await trueweave.retrieve("Hamburg", "keyword")
    assert DESCRIPTION in evidence.passages[0].text


async def test_a_worker_that_dies_after_the_reply_is_stored_leaves_it_to_the_next(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = asyncio.Event()
    keep = PostgresReplies.keep

    async def then_hang(self: PostgresReplies, key: Any, payload: bytes, purpose: Purpose) -> bytes:
        await keep(self, key, payload, purpose)
        kept.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with ModelServer(lambda _: DESCRIPTION) as server:
        async with AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave:
            monkeypatch.setattr(PostgresReplies, "keep", then_hang)
            adding = asyncio.create_task(trueweave.add(pdf(tmp_path / "a.pdf")))
            await asyncio.wait_for(kept.wait(), 30)
            adding.cancel()
            await asyncio.wait([adding])
        monkeypatch.undo()
        async with AsyncTrueweave.open(url, settings=settings(url, server)) as trueweave:
            await trueweave.add(pdf(tmp_path / "a.pdf"))
            evidence = await trueweave.retrieve("Hamburg", "keyword")
    assert DESCRIPTION in evidence.passages[0].text
    assert len(server.calls) == 1
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM trueweave.source").fetchone() == (0,)
