"""One spelling for what English writes in several ways: units, currencies, signs of numbers, -our and -or."""

from __future__ import annotations

import re

from trueweave.answering.verifiers import lexicon

_ABBREVIATED = {
    "mm": "millimeters", "cm": "centimeters", "m": "meters", "km": "kilometers", "ft": "feet", "mi": "miles",
    "mg": "milligrams", "g": "grams", "kg": "kilograms", "t": "tonnes", "lb": "pounds", "lbs": "pounds",
    "ml": "milliliters", "l": "liters", "ha": "hectares", "kw": "kilowatts", "mw": "megawatts", "gw": "gigawatts",
    "km²": "square kilometers", "m²": "square meters", "km2": "square kilometers", "m2": "square meters",
    "m³": "cubic meters", "m3": "cubic meters", "km/h": "kilometers per hour", "mph": "miles per hour",
    "s": "seconds", "min": "minutes", "h": "hours", "hrs": "hours", "bn": "billion", "mn": "million", "k": "thousand",
    "pp": "percentage points", "°c": "degrees Celsius", "°f": "degrees Fahrenheit", "°": "degrees",
}  # fmt: skip
_UNIT = re.compile(
    r"(?<=\d)(?P<gap>\s?)(?P<unit>"
    + "|".join(re.escape(one) for one in sorted(_ABBREVIATED, key=len, reverse=True))
    + r")(?![\w²³°/])",
    re.IGNORECASE,
)
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen"}
_PRICE = re.compile(
    r"(?:US)?(?P<sign>[$€£¥])\s?(?P<amount>\d(?:[\d.,]*\d)?(?:\s?(?:thousand|million|billion|trillion|bn|mn|m|k)\b)?)"
)
_NEGATIVE = re.compile(r"(?<![\w.,)\]%°])[-−–]\s?(?=[$€£¥]?\d)")
_BELOW_ZERO = re.compile(
    r"(?<![\w.,])(?P<amount>\d[\d.,]*+(?: degrees)?(?: celsius| fahrenheit)?) below (?:zero|freezing)\b", re.I
)
_PLUS = re.compile(r"(?<!\w)(?:\+\s?|plus )(?=\d)")
_PERCENT = re.compile(r"\bper cent\b|(?<=\d)\s?%")
_BRITISH = {
    **{word: word.replace("our", "or") for word in lexicon.WRITTEN_WITH_OUR},
    "centre": "center", "theatre": "theater", "fibre": "fiber", "defence": "defense", "licence": "license",
    "metre": "meter", "litre": "liter", "grey": "gray", "tyre": "tire", "storey": "story", "cheque": "check",
    "plough": "plow", "programme": "program",
}  # fmt: skip
_BRITISH_WORD = re.compile(
    rf"\b(?P<prefix>kilo|centi|milli)?(?P<word>{'|'.join(sorted(_BRITISH, key=len, reverse=True))})(?=[a-z]*\b)",
    re.IGNORECASE,
)


_DAILY = re.compile(r"(?<=once |wice |imes )daily\b")
_FROM = {"up": "rising", "down": "falling"}
_DIRECTION = re.compile(r"\b(?P<way>up|down) (?=(?:by|from)\b)")


_VOTE = re.compile(r"\b(?P<vote>vot(?:e|es|ed|ing)) (?P<side>for|against)\b")
_VOTED = {"for": "favoring", "against": "opposing"}


def normalised(text: str) -> str:
    """The text with abbreviated units written out, minus signs as words, and American spelling."""
    text = _PRICE.sub(
        lambda found: f"{_amount(found['amount'])} {_CURRENCIES[found['sign']]}", _NEGATIVE.sub("minus ", text)
    )
    text = _UNIT.sub(lambda found: f" {_ABBREVIATED[found['unit'].lower()]}", _PERCENT.sub(" percent", text))
    text = _BELOW_ZERO.sub(r"minus \g<amount>", _PLUS.sub("", text))
    text = _DAILY.sub("a day", text)
    text = _VOTE.sub(lambda found: f"{found['vote']} {_VOTED[found['side']]}", text)
    return _BRITISH_WORD.sub(_american, _DIRECTION.sub(lambda found: f"{_FROM[found['way']]} ", text))


def _amount(written: str) -> str:
    return re.sub(r"(?<=\d)\s?m\b", " million", written)


def _american(found: re.Match[str]) -> str:
    word = found["word"]
    spelt = _BRITISH[word.lower()]
    return (found["prefix"] or "") + (spelt.capitalize() if word[0].isupper() else spelt)
