"""Formulas of Word as LaTeX: the elements of Office Math that are in common use; of others, their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from docx.oxml.ns import nsmap, qn

_MATH = nsmap["m"]
_VALUE = qn("m:val")
_DEEPEST = 100  # levels of a formula
_SYMBOLS = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "√": r"\sqrt", "∞": r"\infty", "⋃": r"\bigcup", "⋂": r"\bigcap"}
_ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u20d7": "vec", "\u0307": "dot"}


def _name(element: Any) -> str:
    tag = element.tag
    return tag.removeprefix(f"{{{_MATH}}}") if isinstance(tag, str) and tag.startswith(f"{{{_MATH}}}") else ""


def latex(formula: Any, depth: int = 0) -> str:
    """The formula in an element, without dollar signs."""
    if depth > _DEEPEST:
        return "".join(formula.itertext())
    return "".join(_written(child, depth + 1) for child in formula)


def _written(element: Any, depth: int) -> str:
    name = _name(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    if write := _WRITERS.get(name):
        return write(element, depth)
    return latex(element, depth)


def _part(element: Any, name: str, depth: int) -> str:
    found = next((child for child in element if _name(child) == name), None)
    return latex(found, depth) if found is not None else ""


def _property(element: Any, name: str, default: str = "") -> str:
    """The value of a property of an element, such as the sign of a sum."""
    for properties in element:
        if _name(properties).endswith("Pr"):
            for one in properties:
                if _name(one) == name:
                    return str(one.get(_VALUE, default))
    return default


def _fraction(element: Any, depth: int) -> str:
    return rf"\frac{{{_part(element, 'num', depth)}}}{{{_part(element, 'den', depth)}}}"


def _scripts(element: Any, depth: int) -> str:
    base, sub, sup = (_part(element, name, depth) for name in ("e", "sub", "sup"))
    base = base if len(base) == 1 else f"{{{base}}}"
    return base + (f"_{{{sub}}}" if sub else "") + (f"^{{{sup}}}" if sup else "")


def _root(element: Any, depth: int) -> str:
    degree = _part(element, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e', depth)}}}"


def _nary(element: Any, depth: int) -> str:
    sign = _property(element, "chr", "∫")
    sub, sup = _part(element, "sub", depth), _part(element, "sup", depth)
    limits = (f"_{{{sub}}}" if sub else "") + (f"^{{{sup}}}" if sup else "")
    return f"{_SYMBOLS.get(sign, sign)}{limits} {_part(element, 'e', depth)}"


def _delimited(element: Any, depth: int) -> str:
    begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
    inside = (_property(element, "sepChr", "|") or "|").join(latex(e, depth) for e in element if _name(e) == "e")
    signs = {"{": r"\{", "}": r"\}", "": "."}
    return rf"\left{signs.get(begin, begin)}{inside}\right{signs.get(end, end)}"


def _function(element: Any, depth: int) -> str:
    name = _part(element, "fName", depth).strip()
    return f"{chr(92) + name if name.isascii() and name.isalpha() else name}{{{_part(element, 'e', depth)}}}"


def _matrix(element: Any, depth: int) -> str:
    rows = (" & ".join(latex(e, depth) for e in row if _name(e) == "e") for row in element if _name(row) == "mr")
    return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"


def _accent(element: Any, depth: int) -> str:
    accent = _ACCENTS.get(_property(element, "chr", "\u0302"), "hat")
    return rf"\{accent}{{{_part(element, 'e', depth)}}}"


_WRITERS: Mapping[str, Callable[[Any, int], str]] = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "rad": _root,
    "nary": _nary,
    "d": _delimited,
    "func": _function,
    "m": _matrix,
    "acc": _accent,
}
