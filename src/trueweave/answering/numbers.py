"""Numbers as people write them: 1,234.5 and 1.234,5, 12 %, −3, 1.5 million."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

_SPACES = " \u00a0\u2009\u202f'’"
_DIGITS = rf"\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_SCALES = {
    10**3: "thousand thousands tausend mille mil duizend",
    10**4: "万 萬",
    10**6: "million millions millionen mio mn millón millón millones milhão milhões milione milioni miljoen",
    10**8: "億 亿",
    10**9: "billion billions bn milliarde milliarden mrd milliard milliards miliardo miliardi miljard",
    10**12: "trillion trillions billionen 兆",
}
_SCALE_OF = {word: scale for scale, words in _SCALES.items() for word in words.split()}
_WORDS = "|".join(sorted((word for word in _SCALE_OF if word.isalpha() and word[0] < "\u3000"), key=len, reverse=True))
_SIGNS = "".join(word for word in _SCALE_OF if word[0] >= "\u3000")
_NUMBER = re.compile(
    rf"(?:(?P<minus>(?<![\w.,)\]])(?:[-−–]|minus )[$€£¥]?))?(?<![^\W_])(?P<digits>{_DIGITS})"
    rf"(?:[ \u00a0-]?(?P<scale>(?:{_WORDS})\b|[{_SIGNS}]))?",
    re.IGNORECASE,
)
_GROUPS = re.compile(rf"[{_SPACES}]")
_SPELT = {
    word: Decimal(value)
    for value, words in {
        0: "zero none", 1: "one", 2: "two both twice", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve dozen", 15: "fifteen", 20: "twenty", 30: "thirty",
        40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "hundred",
        1000: "thousand",
    }.items()
    for word in words.split()
}  # fmt: skip
_SPELT_OUT = re.compile(rf"\b(?:{'|'.join(_SPELT)})\b", re.IGNORECASE)
_BARE = re.compile(
    rf"(?:[^\W\d]+:\s*)?(?P<amount>[~≈]?\s?[$€£¥]?\s?(?:(?:[-−–]|minus )\s?)?[$€£¥]?(?:{_DIGITS})"
    r"(?P<unit>(?:\s?[^\s\d.,;:!?]++(?:\d\b)?){0,4}))\s*[.。]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text with all its possible readings, likeliest first: 1,234 is 1234 or, in some languages,
    1.234."""

    readings: tuple[Decimal, ...]
    start: int

    def among(self, values: set[Decimal]) -> bool:
        """Whether any reading of it is one of these values."""
        return any(reading in values for reading in self.readings)


def numbers(text: str, *, decimal_comma: bool = False) -> list[Number]:
    """The numbers written in digits in a text, in order."""
    return [one for found in _NUMBER.finditer(text) for one in _read(found, decimal_comma)]


def values(text: str) -> set[Decimal]:
    """All values that the numbers in a text may have, including small numbers spelt out in English."""
    written = {reading for one in numbers(text) for reading in one.readings}
    return written | {_SPELT[found[0].lower()] for found in _SPELT_OUT.finditer(text)}


def only_number(text: str, *, decimal_comma: bool = False) -> Decimal | None:
    """The number in a text; None if there is none, or more than one."""
    found = numbers(text, decimal_comma=decimal_comma)
    return found[0].readings[0] if len(found) == 1 else None


def amount(text: str) -> str | None:
    """The number with its unit, without a full stop, if the text is nothing else."""
    found = _BARE.fullmatch(re.sub(r"[*_`]+", "", text).strip())
    return found["amount"].strip() if found else None


def _read(found: re.Match[str], decimal_comma: bool) -> Iterator[Number]:
    scale = _SCALE_OF[found["scale"].lower()] if found["scale"] else 1
    factor = Decimal(-scale if found["minus"] else scale)
    readings = _readings(found["digits"], decimal_comma)
    if readings:
        yield Number(tuple(factor * one for one in readings), found.start())
        return
    # A date or a version, such as 3.5.1990: each part is a number.
    for part in re.finditer(r"\d+", found["digits"]):
        yield Number((Decimal(part[0]),), found.start() + part.start())


def _readings(digits: str, decimal_comma: bool) -> tuple[Decimal, ...]:
    joined = _GROUPS.sub("", digits)
    points = re.findall(r"[.,]", joined)
    if not points:
        return (Decimal(joined),)
    whole, part = re.split(r"[.,](?=\d+\Z)", joined)
    last = points[-1]
    if len(set(points)) == 2:
        return (Decimal(f"{re.sub('[.,]', '', whole)}.{part}"),) if points.count(last) == 1 and _grouped(whole) else ()
    if len(points) > 1:
        return (Decimal(re.sub("[.,]", "", joined)),) if _grouped(joined) else ()
    decimal, thousands = Decimal(f"{whole}.{part}"), Decimal(whole + part)
    if joined != digits or not _grouped(joined):
        return (decimal,)
    return (thousands, decimal) if (last == ",") != decimal_comma else (decimal, thousands)


def _grouped(joined: str) -> bool:
    return bool(re.fullmatch(r"(?!0)\d{1,3}(?:[.,]\d{3})*", joined))
