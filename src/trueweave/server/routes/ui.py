"""The web UI at `/ui/`: the files that `make web` builds, and that the wheel includes."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from trueweave.server.problems import Refusal

router = APIRouter(include_in_schema=False)

PATH = "/ui/"
BUILT = Path(str(files("trueweave.server") / "web" / "ui"))

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types trueweave"
)
_UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "publickey-credentials-get", "usb")
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED),
    "Referrer-Policy": "no-referrer",
}
_NAME, _LONGEST = re.compile(r"[A-Za-z0-9._/-]+"), 200
_HASHED = "assets/"  # the names of files in this folder contain a hash of their contents
_FOR_A_YEAR = {"Cache-Control": "public, max-age=31536000, immutable"}
_NEVER = {"Cache-Control": "no-store"}
# Named here because the types that Python knows depend on the machine, and browsers may not guess (nosniff).
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_COMPRESSED = {"br": ".br", "gzip": ".gz"}  # the preferred one first
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Trueweave: the web UI is not built</title>
<h1>The web UI is not built</h1>
<p>This server runs from a source tree without the built files. Run <code>make web</code> there, or install a wheel,
which includes them. Then reload this page.</p>
<p>The <a href="/docs">API documentation</a> works without them.</p>
</html>
"""


def is_built() -> bool:
    """Whether the built files are there."""
    return (BUILT / "index.html").is_file()


@router.get("/ui")
def redirect_to_ui() -> RedirectResponse:
    """The web UI, whose links are relative to the path with a slash."""
    return RedirectResponse(PATH, 308)


@router.get("/ui/{path:path}")
def show_ui(request: Request, path: str) -> Response:
    """A file of the web UI. Other paths are views, which the page at its root shows."""
    if not is_built():
        return HTMLResponse(_NOT_BUILT, 503, {**_HEADERS, **_NEVER})
    name = path if path and _is_file(path) else ""
    if name and name != "index.html":
        caching = _FOR_A_YEAR if name.startswith(_HASHED) else {}
        return _sent(request, name, {**_HEADERS, **caching})
    folder, _, last = path.rpartition("/")
    if f"{folder}/" == _HASHED and "." in last:  # an old page asks for a script of another version
        raise Refusal(404, "not_found", "There is no such file.", "Reload the page.", dict(_NEVER))
    return _sent(request, "index.html", {**_HEADERS, **_NEVER})


def _is_file(path: str) -> bool:
    """Whether a path names a file within the folder of built files."""
    if len(path) > _LONGEST or not _NAME.fullmatch(path) or Path(path).suffix not in _TYPES:
        return False
    found = (BUILT / path).resolve()
    return found.is_relative_to(BUILT.resolve()) and found.is_file()


def _sent(request: Request, name: str, headers: dict[str, str]) -> FileResponse:
    """A file, compressed if the build compressed it and the browser accepts that."""
    file = BUILT / name
    accepted = {one.partition(";")[0].strip() for one in request.headers.get("accept-encoding", "").lower().split(",")}
    headers["Vary"] = "Accept-Encoding"
    media_type = _TYPES[file.suffix]
    for encoding, suffix in _COMPRESSED.items():
        compressed = file.with_name(file.name + suffix)
        if encoding in accepted and compressed.is_file():
            return FileResponse(compressed, headers={**headers, "Content-Encoding": encoding}, media_type=media_type)
    return FileResponse(file, headers=headers, media_type=media_type)
