"""Numbers with what they count or measure, and sums, differences, shares and products of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, DivisionByZero, InvalidOperation
from itertools import combinations

from trueweave.answering.numbers import numbers
from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.clauses import Word

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELT = {
    **{word: Decimal(value) for value, word in enumerate(_UNITS.split())},
    **{word: Decimal(value * 10) for value, word in enumerate(_TENS.split(), 2)},
    "dozen": Decimal(12), "twice": Decimal(2), "double": Decimal(2),
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {"half": 2, "twice": 2, "doubl": 2, "halve": 2, "third": 3, "quart": 4, "fifth": 5, "tenth": 10}  # by stems
_SHARES = {"half": "0.5", "third": "0.33333", "quarter": "0.25", "fifth": "0.2", "tenth": "0.1"}
_LEAST = (("at", "least"), ("no", "less", "than"), ("no", "fewer", "than"), ("more", "than"), ("over",), ("above",),
          ("exceed",), ("not", "be", "less", "than"), ("not", "be", "under"), ("not", "be", "below"))  # fmt: skip
_MOST = (
    ("at", "most"),
    ("no", "more", "than"),
    ("less", "than"),
    ("fewer", "than"),
    ("under",),
    ("below",),
    ("up", "to"),
    ("not", "exceed"),
    ("not", "be", "more", "than"),
    ("not", "be", "over"),
    ("not", "be", "above"),
)
# Longest first: "no more than" before "more than".
_BOUNDS = sorted(
    [*((phrase, "<") for phrase in _MOST), *((phrase, ">") for phrase in _LEAST)], key=lambda bound: -len(bound[0])
)
_BEFORE_NOUN = lexicon.word_set("of the its their other more less fewer new further")
_ROUGH = lexicon.word_set("about around almost nearly roughly approximately over under some little circa")
_NEXT = lexicon.word_set("next previ later befor after follo year earli reope again")
_BEYOND = Decimal("1.3")  # "more than 8,000" covers up to this many times as much
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
# The smallest unit that a unit can be converted to, and how many of it make one. A month has no fixed number of days.
_FACTORS: Mapping[str, tuple[str, Decimal]] = {
    word: (factors.split()[0], Decimal(factor))
    for factors in (
        "second 1 minute 60 hour 3600 day 86400 week 604800",
        "month 1 year 12 decade 120 century 1200",
        "millimeter 1 centimeter 10 meter 1000 kilometer 1000000",
        "microgram 1 milligram 1000 gram 1000000 kilogram 1000000000 tonne 1000000000000",
        "milliliter 1 liter 1000",
        "watt 1 kilowatt 1000 megawatt 1000000 gigawatt 1000000000",
    )
    for word, factor in zip(factors.split()[::2], factors.split()[1::2], strict=True)
}
_PER = lexicon.word_set("a an per each every")


@dataclass(frozen=True)
class Quantity:
    """A number with the unit or noun after it, and the period it applies to."""

    value: Decimal
    unit: str
    kind: str
    noun: str
    period: str
    bound: str
    place: int
    end: int
    scale: int = 1
    is_rough: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether neither a unit nor a noun follows, because what it counts was mentioned before."""
        return not self.kind and not self.noun

    def comparable(self, other: Quantity) -> bool:
        """Whether the two measure the same kind of thing, as far as is known."""
        return self.kind == other.kind or self.is_bare or other.is_bare


def quantities(found: Sequence[Word]) -> list[Quantity]:
    """The numbers among these words, in digits or spelt out."""
    made: list[Quantity] = []
    at = 0
    while at < len(found):
        read = _read(found, at)
        if read is None:
            at += 1
            continue
        value, scale, end = read
        if at and found[at - 1].lemma == "minus":
            value = -value
        made.append(_described(found, value, scale, at, end))
        at = end
    return _completed(made, found)


def _completed(made: Sequence[Quantity], found: Sequence[Word]) -> list[Quantity]:
    """The quantities, with units shared: in "from 96 to 81 million euros" the first is in millions of euros too."""
    completed: list[Quantity] = []
    for at, one in enumerate(made):
        following = made[at + 1] if at + 1 < len(made) else None
        if following and one.is_bare and following.place - one.end <= 1 and found[one.end : following.place]:
            joined = found[one.end].lemma in ("to", "and", "or")
            if joined and one.scale == 1:
                scaled = replace(one, value=one.value * following.scale, unit=following.unit, kind=following.kind)
                completed.append(replace(scaled, noun=following.noun))
                continue
        completed.append(one)
    return completed


def _read(found: Sequence[Word], at: int) -> tuple[Decimal, int, int] | None:
    word = found[at]
    value: Decimal | None = None
    end = at + 1
    if _CLOCK.fullmatch(word.text):
        hours, minutes = map(int, word.text.split(":"))
        value = Decimal(60 * hours + minutes)
    elif _is_one(found, at):
        value = Decimal(1)
    elif word.lemma == "half" and end < len(found) and found[end].lemma in ("a", "an"):
        value = Decimal("0.5")
    elif word.is_number:
        read = numbers(word.text)
        if len(read) != 1:
            return None
        value = read[0].readings[0]
    elif word.text.casefold() in _SPELT:
        value = _SPELT[word.text.casefold()]
    elif "-" in word.text and all(part in _SPELT for part in word.text.casefold().split("-")):
        value = sum((_SPELT[part] for part in word.text.casefold().split("-")), Decimal(0))
    if value is None:
        return None
    if end < len(found) and found[end].lemma in _SHARES and value < 10:  # as in "two thirds"
        return value * Decimal(_SHARES[found[end].lemma]) * 100, 1, end + 1
    scale = 1
    while end < len(found) and found[end].lemma in _SCALES:
        scale *= _SCALES[found[end].lemma]
        end += 1
    return value * scale, scale, end


def _is_one(found: Sequence[Word], at: int) -> bool:
    """Whether "a" at this position counts a period: within a week."""
    return (
        0 < at < len(found) - 1
        and found[at].lemma in ("a", "an")
        and lexicon.UNITS.get(found[at + 1].lemma) == "time"
        and found[at - 1].lemma in ("within", "for", "after", "than")
    )


def _described(found: Sequence[Word], value: Decimal, scale: int, at: int, end: int) -> Quantity:
    lemmas = [word.lemma for word in found]
    after = lemmas[end : end + 4]
    if lemmas[end - 1] in _SHARES or after[:2] == ["per", "cent"] or after[:1] in (["%"], ["percent"], ["percentage"]):
        unit, kind = "percent", "percent"
    else:
        unit = next((one for one in after[: 1 + (after[:1] != ["a"])] if one in lexicon.UNITS), "")
        kind = lexicon.UNITS.get(unit, "")
    if not unit and value == int(value) and 1000 <= value < 2100 and "," not in found[at].text:
        kind = "year"
    noun = ""
    for word in found[end : end + 4]:
        if word.text in ",;:()" or word.is_number or (not word.is_content and word.lemma not in _BEFORE_NOUN):
            break
        if word.is_content and word.lemma not in lexicon.UNITS and word.lemma not in _BEFORE_NOUN:
            noun = word.stem
            break
    return Quantity(
        value,
        unit,
        kind,
        noun,
        _period(lemmas, end),
        _bound(lemmas, at),
        at,
        end,
        scale,
        bool(_ROUGH & set(lemmas[max(0, at - 3) : at])),
    )


def _period(lemmas: Sequence[str], end: int) -> str:
    for at in range(end, min(end + 6, len(lemmas) - 1)):
        if lemmas[at] in _PER and lemmas[at + 1] in lexicon.PERIODS:
            return lemmas[at + 1]
    return ""


def _bound(lemmas: Sequence[str], at: int) -> str:
    before = tuple(lemmas[max(0, at - 5) : at])
    found = next((sign for phrase, sign in _BOUNDS if before[-len(phrase) :] == phrase), "")
    if not found and before[-1:] == ("than",) and before[-2:-1] and before[-2].endswith("er"):  # as in "longer than 9"
        return "<" if lexicon.base(before[-2]) in lexicon.SMALL else ">"
    return found


# --- computing numbers --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Computed:
    """A number computed from others, and how."""

    value: Decimal
    shown: str

    @property
    def equation(self) -> str:
        return f"{self.shown} = {_text(round(self.value, 4))}"


def computed(wanted: Quantity, given: Sequence[Quantity], claim: frozenset[str]) -> Computed | None:
    """How a number of a claim follows from numbers of its passage in one step; None if it does not."""
    for found in _follows(given, claim):
        if found.value == wanted.value or (
            wanted.kind != "year" and _equal(found.value, wanted.value, wanted.is_rough)
        ):
            return found
    return None


def roughly(wanted: Quantity, given: Sequence[Quantity]) -> bool:
    """Whether a number given as approximate or as a bound is near one of these."""
    if wanted.bound == ">":
        return any(wanted.value <= one.value <= wanted.value * _BEYOND for one in given)
    if wanted.bound == "<" and any(one.value <= wanted.value <= one.value * _BEYOND for one in given):
        return True
    return wanted.is_rough and any(_equal(one.value, wanted.value, True) for one in given)


def shares(lemmas: frozenset[str]) -> frozenset[Decimal]:
    """The percentages that words such as "a quarter" stand for, exact or rounded."""
    exact = [Decimal(_SHARES[word]) * 100 for word in lemmas & _SHARES.keys()]
    return frozenset((*exact, *(round(one, 0) for one in exact)))


def converted(wanted: Quantity, given: Sequence[Quantity]) -> bool:
    """Whether a measure is one of these in another unit: 0.2 kilograms for 200 grams."""
    smallest, factor = _FACTORS.get(wanted.unit, ("", Decimal(1)))
    others = (one.value * _FACTORS[one.unit][1] for one in given if _FACTORS.get(one.unit, ("?",))[0] == smallest)
    return wanted.value * factor in others


def _equal(one: Decimal, other: Decimal, is_rough: bool) -> bool:
    return abs(one - other) <= abs(other) * Decimal("0.1" if is_rough else "0.002")


def _follows(given: Sequence[Quantity], claim: frozenset[str]) -> Iterator[Computed]:
    for one, other in combinations(given, 2):
        high, low = max(one.value, other.value), min(one.value, other.value)
        a, b = _text(high), _text(low)
        if one.comparable(other):
            if one.kind != "year":
                yield Computed(high + low, f"{a} + {b}")
            yield Computed(high - low, f"{a} − {b}")
        if {one.kind, other.kind} == {"year", "time"}:
            yield Computed(high + low, f"{a} + {b}")
            yield Computed(high - low, f"{a} − {b}")
        if "percent" in (one.kind, other.kind) and one.kind != other.kind:
            share, whole = (one, other) if one.kind == "percent" else (other, one)
            yield Computed(whole.value * share.value / 100, f"{_text(share.value)} % of {_text(whole.value)}")
        elif (not one.comparable(other) and "year" not in (one.kind, other.kind)) or not (one.kind or other.kind):
            yield Computed(high * low, f"{a} × {b}")
        try:
            yield Computed(high / low, f"{a} ÷ {b}")
        except (DivisionByZero, InvalidOperation):
            continue
    shares = [one.value for one in given if one.kind == "percent"]
    if len(shares) > 1:
        yield Computed(100 - sum(shares, Decimal(0)), "100 − " + " − ".join(map(_text, shares)))
    counts = [one.value for one in given if one.kind not in ("percent", "year")]
    if len(counts) > 2:
        yield Computed(sum(counts, Decimal(0)), " + ".join(map(_text, counts)))
        yield Computed(max(counts) * 2 - sum(counts, Decimal(0)), f"{_text(max(counts))} − the others")
    for one in given:
        if one.value and {"year", "yearl"} & claim and one.kind != "year":
            yield Computed(one.value * 12, f"12 × {_text(one.value)}")
        if one.value and "month" in one.unit:
            yield Computed(12 / one.value, f"12 ÷ {_text(one.value)}")
        for parts in _PARTS.values() if claim & _PARTS.keys() else ():
            yield Computed(one.value / parts, f"{_text(one.value)} ÷ {parts}")
        if one.kind == "year" and claim & _NEXT:
            yield Computed(one.value + 1, f"{_text(one.value)} + 1")
            yield Computed(one.value - 1, f"{_text(one.value)} − 1")


def _text(value: Decimal) -> str:
    return f"{value.normalize():f}"
