"""`trueweave add` with an address, and `trueweave sources`."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Trueweave, answer
from tests.web_site import Site, web_site


@pytest.fixture
def site(environment: dict[str, str]) -> Iterator[Site]:
    environment |= {"TRUEWEAVE_SOURCE_NETWORKS": '["127.0.0.0/8"]', "TRUEWEAVE_SOURCE_PAUSE": "0"}
    environment |= {"TRUEWEAVE_EXTRACTOR": "capitals"}
    with web_site() as found:
        yield found


def test_a_page_is_added_by_its_address(trueweave: Trueweave, site: Site) -> None:
    trueweave("init")
    page = site.page("/ada", "Ada Lovelace wrote the first program.", "Ada")
    assert answer(trueweave("add", page, "--json"))["new"] == 1
    assert "Ada Lovelace wrote the first program." in trueweave("document", page).stdout
    assert answer(trueweave("add", page, "--json"))["new"] == 0
    missing = trueweave("add", f"{site.url}/nothing", code=1).stdout
    assert "1 file could not be read" in missing
    assert f"{site.url}/nothing" in missing


def test_a_source_from_adding_to_removing_it(trueweave: Trueweave, site: Site) -> None:
    trueweave("init")
    assert "there is none yet" in trueweave("sources", "list").stdout
    paths = [f"/{n}" for n in range(8)]
    for path in paths:
        site.page(path, f"Ada Lovelace wrote page {path}.")
    address = site.sitemap("/sitemap.xml", *paths, modified="2026-01-02")
    assert "is not an interval" in trueweave("sources", "add", "x", address, "--every", "often", code=1).stderr
    refused = trueweave("sources", "add", "x", address, "--secret", "token=s3cr3t-value", code=1)
    assert "s3cr3t-value" not in refused.stderr
    added = trueweave("sources", "add", "kettles", address, "--every", "1d")
    assert "Workers synchronise kettles every 1d." in added.stdout
    assert trueweave("sources", "list").stdout.splitlines()[1].split()[:4] == ["kettles", "1d", "never", "-"]
    assert answer(trueweave("sources", "sync", "kettles", "--json"))["new"] == 8
    site.sitemap("/sitemap.xml", *paths[:5], modified="2026-01-02")
    stopped = trueweave("sources", "sync", "kettles", code=1)
    assert "trueweave sources sync kettles --yes" in stopped.stderr
    listed = trueweave("sources", "list").stdout
    assert "stopped" in listed
    assert "run `trueweave sources sync kettles --yes`" in listed
    assert "Removed 3 documents" in trueweave("sources", "sync", "kettles", "--yes").stdout
    assert "5 read, 3 removed" in trueweave("sources", "list").stdout
    refused = trueweave("sources", "remove", "kettles", "--documents", code=1)
    assert "Confirm with --yes" in refused.stderr
    assert (
        "Removed kettles and 5 documents." in trueweave("sources", "remove", "kettles", "--documents", "--yes").stdout
    )
    assert "no source 'kettles'" in trueweave("sources", "remove", "kettles", code=1).stderr


def test_the_next_step_after_nothing_was_read_is_to_try_again(trueweave: Trueweave, site: Site) -> None:
    trueweave("init")
    address = site.sitemap("/sitemap.xml", "/missing", modified="2026-01-02")
    trueweave("sources", "add", "kettles", address)
    page = f"{site.url}/missing"
    for command in (["sources", "sync", "kettles"], ["sync", address], ["add", page]):
        said = trueweave(*command, code=1).stdout
        assert f"{page} does not exist" in said or page in said
        assert f"Next: trueweave {' '.join(command)}  (after fixing that, tries again)" in said
    site.sitemap("/sitemap.xml")
    said = trueweave("sources", "sync", "kettles").stdout
    assert "Next: trueweave sources sync kettles  (when there is something)" in said
