"""Writes the PDF files of the demo: a list with a ruled table, and a scanned page with its recognised text.

They are always the same bytes, so that a test can tell whether the files in the package are those of this program.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from tests.scanned import HEIGHT, PdfPage, page_image, write_pdf
from trueweave.demo import DOCUMENTS

LIGHTS = (
    ("Light", "Keeper", "Shows", "Height", "Range"),
    ("Gull Stack", "Magnus Teale", "flash, 15 s", "112 feet", "14 miles"),
    ("Merrow Point", "Elspeth Rowan", "flash, 10 s", "74 feet", "11 miles"),
    ("Inner Mole", "none", "fixed red", "22 feet", "3 miles"),
    ("Corrant Ledge", "none", "fixed green", "15 feet", "2 miles"),
)
SURVEY = (
    "SURVEY OF THE PILOT CUTTER WREN",
    "",
    "Tarvane, 28 August 1922",
    "",
    "At the request of the harbour master, Hannah Breck, I",
    "have this day surveyed the cutter Wren on the slip at",
    "Kettle Cove.",
    "",
    "Hull: oak on oak. I tried it with the spike in sixty",
    "places and bent the spike. Rigging: renewed in 1919.",
    "Sails: the work of Mercy Holt, and good for ten years.",
    "",
    "The pump has not been used since the spring and the",
    "pilots have forgotten where the handle is kept.",
    "",
    "I value the Wren at two hundred and sixty pounds, and",
    "would not sell her for that.",
    "",
    "Ivor Maddern, surveyor",
)


def lights(folder: Path) -> Path:
    """The list of lights, a PDF with a ruled table."""
    page = PdfPage()
    page.text(72, 90, "Lights of the harbour of Tarvane, 1911", 15)
    before = (
        "Printed for the use of pilots. It takes account of the notice of 1 March 1911. Lists of",
        "earlier years should be burned, or given to the schoolmaster, who uses the backs.",
    )
    page.lines(72, 120, before)
    page.table(72, 170, LIGHTS, (95, 110, 90, 75, 75))
    after = (
        "Elspeth Rowan has kept the light at Merrow Point since 1906, and rings the bell in fog.",
        "Heights are above high water. Ranges are for clear weather, of which there is little.",
    )
    page.lines(72, 300, after)
    return write_pdf(folder / "lights-1911.pdf", [page], "Lights of the harbour of Tarvane")


def survey(folder: Path) -> Path:
    """A scanned page: its image, and the recognised text as an invisible layer, as scanners write it."""
    image = page_image(SURVEY, size=(1240, 1754), points=26, noise=0, angle=0.6)
    page = PdfPage(image=image.point(lambda grey: 255 if grey > 150 else 60))
    for n, line in enumerate(SURVEY):
        if line:
            page.drawn.append(f"BT 3 Tr /F1 12 Tf 50 {HEIGHT - 62 - 20 * n} Td ({line}) Tj ET")
    return write_pdf(folder / "scanned-survey-1922.pdf", [page], "Survey of the Wren")


def write(folder: Path = DOCUMENTS) -> list[Path]:
    """Write both files into a folder."""
    return [lights(folder), survey(folder)]


if __name__ == "__main__":
    for path in write():
        print(f"{path}: {path.stat().st_size:,} bytes")
