"""Titles in the properties of a file: telling those given by a person from those written by a program."""

from __future__ import annotations

import re

# Titles that programs write if none was given.
_BY_PROGRAMS = frozenset(
    [
        "untitled",
        "untitled document",
        "untitled page",
        "untitled presentation",
        "untitled spreadsheet",
        "untitled-1",
        "no title",
        "notitle",
        "title",
        "document title",
        "document",
        "word document",
        "powerpoint presentation",
        "presentation",
        "presentation title",
        "slide 1",
        "folie 1",
        "diapositive 1",
        "powerpoint-präsentation",
        "présentation powerpoint",
        "excel worksheet",
        "book1",
        "workbook",
        "new page 1",
        "new document",
        "none",
        "null",
        "n/a",
        "unknown",
        "anonymous",
        "(anonymous)",
        "(unknown)",
        "(null)",
        "unbenannt",
        "ohne titel",
        "kein titel",
        "sans titre",
        "sans nom",
        "senza titolo",
        "sin título",
        "sem título",
        "без названия",
        "无标题",
        "無標題",
        "無題",
        "제목 없음",
    ]
)
_NUMBERED = re.compile(r"(?:untitled|document|dokument|presentation|book|mappe|page|slide|scan)[ _-]?\d{1,4}")
# "Microsoft Word - thesis.docx": from a print driver, with the name of the printed file.
_PRINTED = re.compile(r"(?:microsoft|openoffice|libreoffice|adobe|wps)\b[^-–]{0,40} [-–] .+")
_FILE_NAME = re.compile(
    r"~.+|tmp\w{4,}|(?:[a-z]:\\|\\\\|file:/|/(?:tmp|var|home|users|mnt)/).+"
    r"|\S+\.(?:txt|ps|eps|html?|tmp|tex|dvi|fm|key|pub|pages)"
    r"|\S+(?: \S+){0,9}\.(?:docx?|dotx?|odt|rtf|pdf|pptx?|odp|xlsx?|ods|indd|qxd|qxp|cdr|wpd)"
)


def given_title(title: str) -> str:
    """A title on one line; empty if it is one that programs write and that says less than the file name."""
    tidy = " ".join(title.split())
    folded = tidy.casefold()
    by_program = folded in _BY_PROGRAMS or any(
        pattern.fullmatch(folded) for pattern in (_NUMBERED, _PRINTED, _FILE_NAME)
    )
    has_letters = any(map(str.isalnum, tidy))
    return tidy if has_letters and not by_program else ""
