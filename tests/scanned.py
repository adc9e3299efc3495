"""Pages as images, and PDFs of text, images, rules and columns, for tests and benchmarks."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 595, 842  # A4 in points


@dataclass
class PdfPage:
    """A page of a PDF, drawn piece by piece. Positions are in points, from the top left."""

    size: tuple[int, int] = (WIDTH, HEIGHT)
    drawn: list[str] = field(default_factory=list)
    image: Image.Image | None = None
    declared: tuple[int, int] | None = None  # the size that the image claims to have
    box: tuple[int, int, int, int] | None = None  # of the image: left, top, right, bottom; else it covers the page

    def text(self, x: float, y: float, text: str, size: float = 11) -> PdfPage:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.drawn.append(f"BT /F1 {size} Tf {x} {self.size[1] - y} Td ({escaped}) Tj ET")
        return self

    def lines(self, x: float, y: float, lines: Sequence[str], size: float = 11, leading: float = 14) -> PdfPage:
        for n, line in enumerate(lines):
            self.text(x, y + n * leading, line, size)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> PdfPage:
        height = self.size[1]
        self.drawn.append(f"{x0} {height - y0} m {x1} {height - y1} l S")
        return self

    def table(self, x: float, y: float, rows: Sequence[Sequence[str]], widths: Sequence[float]) -> PdfPage:
        """A ruled table with rows of 20 points."""
        right, bottom = x + sum(widths), y + 20 * len(rows)
        for n in range(len(rows) + 1):
            self.rule(x, y + 20 * n, right, y + 20 * n)
        for n in range(len(widths) + 1):
            self.rule(x + sum(widths[:n]), y, x + sum(widths[:n]), bottom)
        for n, row in enumerate(rows):
            for m, cell in enumerate(row):
                self.text(x + sum(widths[:m]) + 4, y + 20 * n + 14, cell, 10)
        return self


def write_pdf(path: Path, pages: Sequence[PdfPage], title: str = "") -> Path:
    """A PDF of these pages, always with the same bytes."""
    kids = " ".join(f"{5 + 3 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    for n, page in enumerate(pages):
        width, height = page.size
        here = 5 + 3 * n
        resources = f"/Font << /F1 3 0 R >> /XObject << /I1 {here + 2} 0 R >>"
        left, top, right, bottom = page.box or (0, 0, width, height)
        drawn = [f"q {right - left} 0 0 {bottom - top} {left} {height - bottom} cm /I1 Do Q"] if page.image else []
        content = "\n".join([*drawn, *page.drawn]).encode("cp1252")
        pixels = page.image.convert("L") if page.image else Image.new("L", (1, 1), 255)
        wide, high = page.declared or pixels.size
        packed = zlib.compress(pixels.tobytes(), 9)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Resources << {resources} >> "
            f"/Contents {here + 1} 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            f"<< /Type /XObject /Subtype /Image /Width {wide} /Height {high} /ColorSpace /DeviceGray "
            f"/BitsPerComponent 8 /Filter /FlateDecode /Length {len(packed)} >>\nstream\n".encode()
            + packed
            + b"\nendstream",
        ]
    body, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, one in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\n"
    path.write_bytes(body + f"{end}startxref\n{len(body)}\n%%EOF\n".encode())
    return path


def page_image(
    lines: Sequence[str], size: tuple[int, int] = (1654, 2339), points: int = 30, noise: int = 0, angle: float = 0.0
) -> Image.Image:
    """These lines as the scan of a page, at 200 dpi, with noise of that many levels of grey, turned by an angle."""
    image = Image.new("L", size, 255)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(points)
    for n, line in enumerate(lines):
        draw.text((points * 4, points * 4 + n * points * 1.6), line, font=font, fill=0)
    if angle:
        image = image.rotate(angle, fillcolor=255, resample=Image.Resampling.BICUBIC)
    if noise:
        grain = numpy.random.default_rng(1).integers(-noise, noise + 1, (image.height, image.width))
        image = Image.fromarray(numpy.clip(numpy.asarray(image) + grain, 0, 255).astype("uint8"))
    return image
