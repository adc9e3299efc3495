"""Pages for people: `/` and `/docs`, which load nothing from elsewhere."""

import re
from pathlib import Path

import httpx2
import pytest

from tests.integration.serving import fill, serving
from trueweave.server.routes import ui

ELSEWHERE = re.compile(r"""(?:src|href)=["'](?:[a-z]+:)?//""")


def check_page(answer: httpx2.Response) -> None:
    """It is a page without inline scripts or styles, which may load what is on this server alone."""
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
    assert policy["frame-ancestors"] == "'none'"
    assert not ELSEWHERE.search(answer.text)
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", answer.text)


async def test_the_start_page_says_what_this_is_without_a_key(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui, "BUILT", tmp_path)  # where the web UI is built, it takes the place of this page
    async with serving(url) as server, server.client() as client:
        answer = await client.get("/")
        check_page(answer)
        version = (await client.get("/v1/openapi.json")).json()["info"]["version"]
        for shown in (version, 'href="docs"', "/v1/workspaces/WORKSPACE/mcp", "Bearer twk_", "trueweave keys create"):
            assert shown in answer.text
        for linked in re.findall(r'href="([^":]+)"', answer.text):
            assert (await client.get(f"/{linked}")).status_code == 200, linked


async def test_the_docs_and_all_that_they_load_are_served_from_here(url: str) -> None:
    async with serving(url) as server, server.client() as client:
        answer = await client.get("/docs")
        check_page(answer)
        loaded = {path: await client.get(f"/{path}") for path in re.findall(r'(?:src|href)="([^":]+)"', answer.text)}
        kinds = {path: one.headers["content-type"].partition(";")[0] for path, one in loaded.items()}
        assert kinds == {
            "docs/swagger-ui.css": "text/css",
            "docs/swagger-ui-bundle.js": "text/javascript",
            "docs/docs.js": "text/javascript",
            "v1/openapi.json": "application/json",
        }
        assert all(one.status_code == 200 for one in loaded.values())
        assert "SwaggerUIBundle" in loaded["docs/swagger-ui-bundle.js"].text
        assert "://" not in loaded["docs/docs.js"].text


@pytest.mark.parametrize(
    ("path", "status"),
    [("/redoc", 404), ("/favicon.ico", 404), ("/docs/__init__.py", 401), ("/docs/..%2fapp.py", 401), ("/nowhere", 401)],
)
async def test_other_pages_are_not_there(url: str, path: str, status: int) -> None:
    async with serving(url) as server:
        async with server.client() as client:
            assert (await client.get(path)).status_code == status
        async with server.client(await server.key("read")) as client:
            assert (await client.get(path)).status_code == 404


async def test_a_workspace_s_status_has_a_path(url: str) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        trueweave = await fill(server.database, "mine")
        found = await client.get("/v1/workspaces/mine/status")
        assert found.status_code == 200
        assert found.json()["documents"] == (await trueweave.status()).documents == 1
        assert found.json() == (await client.get("/v1/workspaces/mine")).json()["status"]
        assert (await client.get("/v1/workspaces/other/status")).status_code == 404
