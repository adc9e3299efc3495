"""A picture of a part of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from trueweave.core.errors import ConfigError
from trueweave.formats.pictures.contents import PictureContents

MOST = 500  # entities of a picture


@dataclass(frozen=True, slots=True)
class GraphPicture(PictureContents):
    """A part of the graph, with passages that support it. A notebook displays it inline.

    `marked` has the entities that it is about, and the relations of a path. `note` says what was left out.
    """

    def html(self) -> str:
        """A self-contained HTML page that can be searched, panned and clicked."""
        from trueweave.formats.pictures.page import page  # loads numpy, as the drawing does

        return page(self)

    def svg(self, width: float = 85, height: float | None = None) -> str:
        """A drawing for a paper, `width` millimetres wide. Names that would cover others are left out."""
        from trueweave.formats.pictures.svg import drawing

        return drawing(self, width, height)

    def save(self, path: str | Path) -> None:
        """Write it to a file; the extension, .html or .svg, selects the format."""
        file = Path(path)
        writers = {".html": self.html, ".htm": self.html, ".svg": self.svg}
        if (write := writers.get(file.suffix.lower())) is None:
            raise ConfigError(f"{file} has neither the extension .html nor .svg. Choose one of them.")
        try:
            file.write_text(write(), "utf-8")
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}. Choose another name.") from error

    def _repr_html_(self) -> str:
        """The page in an iframe, for notebooks."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts" title="{escape(self.title)}" '
            'style="width:100%;height:560px;border:1px solid #8888"></iframe>'
        )

    def _repr_svg_(self) -> str:
        return self.svg(160)
