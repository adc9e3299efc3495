"""The files of the web UI: where they are built, and where they are not."""

import gzip
from pathlib import Path

import pytest

from tests.integration.serving import serving
from trueweave.server.routes import ui

INDEX = '<!doctype html><script type="module" src="/ui/assets/index-Ab12Cd34.js"></script>'
SCRIPT = "console.log('here')"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of built files."""
    folder = tmp_path / "ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets" / "index-Ab12Cd34.js").write_text(SCRIPT)
    (folder / "assets" / "index-Ab12Cd34.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (folder / "assets" / "font-Ef56.woff2").write_bytes(b"font")
    (folder / "licences.txt").write_text("MIT")
    (tmp_path / "secret.txt").write_text("not of the UI")
    (folder / "assets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    monkeypatch.setattr(ui, "BUILT", folder)
    return folder


@pytest.mark.usefixtures("built")
async def test_the_page_is_answered_for_every_view_and_is_never_cached(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        views = ("", "index.html", "login", "acme/ask?q=Who", "acme/document?uri=a.txt", "a.b/ask", "assets/ask")
        for view in views:
            answer = await client.get(f"/ui/{view}")
            assert (answer.status_code, answer.text) == (200, INDEX), view
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.usefixtures("built")
async def test_pages_and_files_come_with_a_strict_policy(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        for path in ("/ui/", "/ui/assets/index-Ab12Cd34.js", "/ui/licences.txt"):
            headers = (await client.get(path)).headers
            policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
            assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
            assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
            assert (policy["require-trusted-types-for"], policy["trusted-types"]) == ("'script'", "trueweave")
            assert "unsafe" not in headers["content-security-policy"]
            assert "http" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert "camera=()" in headers["permissions-policy"]


@pytest.mark.usefixtures("built")
async def test_files_with_a_hash_in_their_names_are_cached_for_a_year(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        script = await client.get("/ui/assets/index-Ab12Cd34.js", headers={"Accept-Encoding": "identity"})
        assert (script.status_code, script.text) == (200, SCRIPT)
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "content-encoding" not in script.headers
        packed = await client.get("/ui/assets/index-Ab12Cd34.js", headers={"Accept-Encoding": "gzip, br"})
        assert (packed.headers["content-encoding"], packed.text) == ("gzip", SCRIPT)
        assert (packed.headers["content-type"], packed.headers["vary"]) == (
            "text/javascript; charset=utf-8",
            "Accept-Encoding",
        )
        font = await client.get("/ui/assets/font-Ef56.woff2")
        assert (font.headers["content-type"], font.content) == ("font/woff2", b"font")
        licences = await client.get("/ui/licences.txt")
        assert (licences.text, licences.headers["cache-control"]) == ("MIT", "private, no-cache")


@pytest.mark.usefixtures("built")
async def test_a_script_of_another_version_is_not_answered_with_the_page(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        answer = await client.get("/ui/assets/index-Zz99.js")
        assert (answer.status_code, answer.json()["next_step"]) == (404, "Reload the page.")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path",
    ["..%2fsecret.txt", "assets%2f..%2f..%2fsecret.txt", "%2fetc%2fhostname.txt", "..%00.txt", "x" * 5000 + ".txt"],
)
async def test_no_file_outside_of_the_folder_is_served(url: str, path: str) -> None:
    async with serving(url) as server, server.client() as client:
        assert (await client.get(f"/ui/{path}")).text == INDEX
        linked = await client.get("/ui/assets/link.txt")
        assert (linked.status_code, "not of the UI" in linked.text) == (404, False)


@pytest.mark.usefixtures("built")
async def test_the_start_page_leads_to_the_ui(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        for path, status in (("/", 307), ("/ui", 308)):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["location"]) == (status, "/ui/")
        assert (await client.post("/ui/")).status_code == 405


async def test_without_built_files_a_page_says_how_to_build_them(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui, "BUILT", tmp_path / "nothing")
    async with serving(url) as server, server.client() as client:
        for path in ("/ui/", "/ui/acme/ask", "/ui/assets/index-Ab12Cd34.js"):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["cache-control"]) == (503, "no-store")
            assert "make web" in answer.text
        start = await client.get("/")
        assert (start.status_code, "make web" in start.text) == (200, True)
