"""The method, the loader, the connector and the verifier that the documentation shows do what it says."""

import runpy
from contextlib import closing
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, blocks
from tests.web_site import Answer, web_site
from trueweave import AsyncTrueweave, Chunk, Document, Source
from trueweave.extend import Claim, ConnectorContext
from trueweave.ingest.loading import Files
from trueweave.text.uris import Naming


def shown(name: str, page: str, folder: Path) -> Any:
    """The class of that name on the page."""
    text = (ROOT / "docs/how-to" / page).read_text("utf-8")
    [block] = [one for one in blocks(text, "python") if f"class {name}" in one]
    program = folder / f"{name}.py"
    program.write_text(block, "utf-8")
    return runpy.run_path(str(program))[name]


async def test_the_method_gives_the_longest_passages_first(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    texts = ["A kettle.", "A kettle that is long and old.", "A kettle in York.", "Tea."]
    await trueweave.add_documents(Document(text, (Chunk(text),)) for text in texts)
    found = await trueweave.retrieve("kettle", shown("Longest", "write-a-method.md", tmp_path)(top_k=2))
    assert [passage.text for passage in found.passages] == [texts[1], texts[2]]


def test_the_loader_reads_a_title_and_a_text(tmp_path: Path) -> None:
    (tmp_path / "x.note").write_text("Tea\nIt is hot.\n", "utf-8")
    files = Files(Naming(tmp_path), loaders={".note": shown("NoteLoader", "write-a-loader.md", tmp_path)()})
    assert list(files.sources([tmp_path / "x.note"])) == [Source("x.note", "It is hot.\n", "Tea")]


def test_the_connector_lists_and_fetches_pages(tmp_path: Path) -> None:
    made = shown("Wiki", "write-a-connector.md", tmp_path)
    context = ConnectorContext(networks=(ip_network("127.0.0.0/8"),))
    with web_site() as site:
        site.pages["/pages.json"] = Answer(b'[{"name": "tea", "revision": 7, "author": "Ada"}]')
        site.page("/tea", "# Tea\n\nIt is hot.")
        with closing(made(f"wiki+{site.url}", context)) as connector:
            [item] = connector.items()
            assert (item.uri, item.version, item.metadata) == (f"{site.url}/tea", "7", {"author": "Ada"})
            assert connector.fetch(item, tmp_path, "").path.read_text() == "# Tea\n\nIt is hot."


async def test_the_verifier_contradicts_a_wrong_year(tmp_path: Path) -> None:
    verifier = shown("Years", "write-a-verifier.md", tmp_path)()
    claims = [Claim(f"It was made in {year}.", (), ("It was made in 1903.",), "When?", False) for year in (1903, 1904)]
    judged = (await verifier.verify(claims)).judgements
    assert [(one.status, one.reason) for one in judged] == [
        ("not checked", ""),
        ("contradicted", "no passage has 1904"),
    ]
