"""Web pages: a start page and interactive API documentation. They load nothing from other hosts."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

from fastapi import APIRouter
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from trueweave.server.problems import Refusal
from trueweave.server.routes import ui

router = APIRouter(include_in_schema=False)

_OWN = Path(str(files("trueweave.server") / "web"))
_SWAGGER = Path(str(files("fastapi_swagger.resources")))
_FILES = {
    **{name: _SWAGGER / name for name in ("swagger-ui-bundle.js", "swagger-ui.css")},
    **{name: _OWN / name for name in ("docs.js", "page.css")},
}
# Paths that need no key. The last two do not exist: browsers get a 404 for them rather than a 401.
OPEN = frozenset({"/", "/docs", *(f"/docs/{name}" for name in _FILES), "/redoc", "/favicon.ico"})

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


@router.get("/")
def show_start() -> Response:
    """The web UI, or a start page if it is not built."""
    if ui.is_built():
        return RedirectResponse(ui.PATH, 307, {"Cache-Control": "no-store"})
    agents = _read("agents.html") if find_spec("mcp") else ""
    page = Template(_read("index.html")).substitute(version=version("trueweave"), agents=agents)
    return HTMLResponse(page, headers=_HEADERS)


@router.get("/docs")
def show_docs() -> HTMLResponse:
    """The interactive API documentation."""
    return HTMLResponse(_read("docs.html"), headers=_HEADERS)


@router.get("/docs/{name}")
def get_file(name: str) -> FileResponse:
    """A script or style sheet of these pages."""
    if name not in _FILES:
        raise Refusal(404, "not_found", "There is no such file.", "GET /docs shows the API.")
    return FileResponse(_FILES[name], headers=_HEADERS)


def _read(name: str) -> str:
    return (_OWN / name).read_text("utf-8")
