"""Full names for short ones within a document: "Koestler" is "Arthur Koestler" where a document calls one person so.

Only the document decides, so what it contributes to the graph depends on nothing else. Spans stay where the words are.
Whatever may be another person, or no person, is left alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from trueweave.core.record import Chunk, Document, Link, Span
from trueweave.text.folding import bare
from trueweave.text.names import normalise, tidy
from trueweave.text.people import Gender, Person, person, untitled

Name = tuple[str, str]  # how it is written, and its type

_TYPES_OF_PEOPLE = frozenset({"", "person", "per", "people", "human", "character", "individual"})
_AROUND = 80  # characters before and after a name that are read
_SOON = 2000  # characters after a full name within which a short one must occur first
_MOST_ALIKE = 20  # persons of one surname; with more, their short names are left alone

_WORD = re.compile(r"[^\W\d_]+")
# Before a name in a text.
_NOT_OF_PEOPLE = re.compile(
    r"\b(?:in|at|near|into|across|throughout|outside|towards?|via|the|an?|this|these|those|"
    r"im|der|die|das|dem|den|des|eine?)\s$",
    re.IGNORECASE,
)
_SPOKEN_BY = re.compile(r"\b(?:said|replied|answered|cried|asked|exclaimed|returned)\s$")
_OF_A_PERSON = re.compile(
    r"\b(?:(?:directed|written|composed|portrayed|played|edited)\sby|(?:act|direct|auth|edit)or|actress|singer|writer|"
    r"poet|songwriter|novelist|politician|painter)\s$"
)
_NICKNAMED = re.compile(r"(\w{1,40})(?:\s\w\.)?\s[\"“'‘(]([^\"”'’)]{1,25})[\"”'’)]\s$")  # Robert "Bobbie" Smith
_LISTED = re.compile(r"[^\W\d_][,:]\s$")
_KIN = re.compile(
    r"\b(?:sons?|daughters?|brothers?|sisters?|(?:grand)?(?:father|mother)|uncle|aunt|nephew|niece|cousin|wife|husband|"
    r"child(?:ren)?),?\s(?:Sir\s)?$"
)
_GIVES_ITS_NAME = re.compile(  # before a full name, whose surname may be that of a company, a ship or a place
    r"\b(?:named\s(?:for|after)(?:\s\w+){0,3},?|(?:founded|started|established|owned)(?:\sin\s\d{4})?\sby)\s$"
)
# After a name in a text.
_LIST = re.compile(r",\s[^\W\d_]|,?\s(?:and|und|&)\s[^\W\d_]")
_BOTH = re.compile(r"\s(?:and|und|&)\s[^\W\d_]+\s([^\W\d_]+)")  # of "David and Janet Peoples", Peoples
_LIVED = re.compile(
    r"(?:,?\s\w+\s?)?\s?\((?:[^()]{0,40}[;,]\s)?(?:born|b\.|née|c\.|ca\.|died|d\.|\d{1,2}\s\w+\s\d{4}|"
    r"\w+\s\d{1,2},\s\d{4}|\d{4}\s?[-–—])|,\s(?:who|whose|whom|aged)\b"
)
_ACTS = re.compile(
    r"\s(?:(?:also|then|had|has|later|first|once|never|himself|herself|soon)\s){0,2}"
    r"(?:said|says|replied|answered|cried|exclaimed|asked|wrote|was\sborn|married|died|graduated|attended|grew\sup|"
    r"laughed|smiled|nodded|thought|studied|retired|resigned|taught|himself|herself|whispered|sighed|knew|felt|looked)\b"
    r"|['’]s\s(?:wife|husband|father|mother|son|daughter|brother|sister|death|parents|children|career|life|childhood|"
    r"widow|biography|eldest|youngest|first|own|face|eyes|voice|heart|mind)\b"
)
_QUOTED = frozenset(('""', "“”", "«»", "„“"))


def with_full_names(document: Document) -> Document:
    """The document with full names of people in place of short ones; with the type of a name where it was left out, if
    the document gives it one type; and with the ends of links as their chunk spells them."""
    names = _Names(document)
    full = _full_names(names)
    types = _single_types(names, full)
    return replace(document, chunks=tuple(_renamed(chunk, full, types) for chunk in document.chunks))


class _Group(NamedTuple):
    """The full names of a document that share the first given name and the surname: of one person, or of several."""

    forms: Mapping[str, Person]
    full: Name
    several: bool

    @property
    def given(self) -> str:
        return next(iter(self.forms.values())).given[0]

    @property
    def surname(self) -> str:
        return next(iter(self.forms.values())).surname

    @property
    def gender(self) -> Gender:
        found = {one.apparent_gender for one in self.forms.values()} - {""}
        return found.pop() if len(found) == 1 else ""


class _Names:
    """The names of a document, with their types, positions and words."""

    def __init__(self, document: Document) -> None:
        self._chunks = document.chunks
        self._places: defaultdict[str, list[tuple[Chunk, Span]]] = defaultdict(list)
        self.types: defaultdict[str, set[str]] = defaultdict(set)
        self.count: Counter[str] = Counter()
        for chunk in document.chunks:
            for mention in chunk.mentions:
                name = tidy(mention.name)
                self.types[name].add(tidy(mention.type))
                self.count[name] += max(len(mention.spans), 1)
                self._places[name] += ((chunk, span) for span in mention.spans)
            for link in chunk.links:
                self.types[tidy(link.source)].add(tidy(link.source_type))
                self.types[tidy(link.target)].add(tidy(link.target_type))
        self.with_word: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self.types):
            for word in set(_WORD.findall(bare(name))):
                self.with_word[word].append(name)

    @cached_property
    def people(self) -> dict[str, Person]:
        """The names that may be those of people, with their parts."""
        may_be = (
            name for name in sorted(self.types) if {one.casefold() for one in self.types[name]} <= _TYPES_OF_PEOPLE
        )
        return {name: found for name in may_be if (found := person(name))}

    @cached_property
    def titles(self) -> dict[str, set[tuple[str, Gender]]]:
        """By surname, the titles that stand before it alone, and the gender that they show."""
        found: defaultdict[str, set[tuple[str, Gender]]] = defaultdict(set)
        for one in self.people.values():
            if one.title and not one.given:
                found[one.surname].add((one.title, one.gender))
        return found

    @cached_property
    def small(self) -> set[str]:
        """The words that the document writes in lower case."""
        words = {word for chunk in self._chunks for word in _WORD.findall(chunk.text)}
        return {bare(word) for word in words if word.islower()}

    def around(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The text before and after each position of these names."""
        for name in names:
            for chunk, (start, end) in self._places[name]:
                yield chunk.text[max(start - _AROUND, 0) : start], chunk.text[end : end + _AROUND]

    def is_introduced(self, name: str, by: Iterable[str]) -> bool:
        """Whether the name occurs for the first time soon after one of the others."""
        first = min(self._positions([name]), default=-1)
        return any(first - _SOON <= one < first for one in self._positions(by))

    def _positions(self, names: Iterable[str]) -> Iterator[int]:
        return (chunk.start + start for name in names for chunk, (start, _) in self._places[name])


def _full_names(names: _Names) -> dict[str, Name]:
    """The full name of each name that is short or has a title, if it is certain."""
    groups = _groups(names)
    full = {form: name for group in groups for form, name in _without_title(group)}
    by_surname, by_given = _by(groups, lambda one: one.surname), _by(groups, lambda one: one.given)
    short = [(name, found) for name, found in names.people.items() if found.is_short]
    for name, found in sorted(short, key=lambda one: one[1].is_bare):  # the bare ones last: they need the others
        alike = by_surname.get(found.surname, [])
        if found.is_bare or found.title == "sir":
            alike = [*alike, *(one for one in by_given.get(found.surname, []) if one not in alike[:_MOST_ALIKE])]
        if len(alike) <= _MOST_ALIKE and (group := _meant(name, found, alike, names, full)):
            full[name] = group.full
    return full


def _by(groups: Iterable[_Group], part: Callable[[_Group], str]) -> dict[str, list[_Group]]:
    found: defaultdict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        found[part(group)].append(group)
    return found


def _groups(names: _Names) -> list[_Group]:
    alike: defaultdict[tuple[str, str], dict[str, Person]] = defaultdict(dict)
    for name, found in names.people.items():
        if not found.is_short and _is_full(found, names):
            alike[found.given[0], found.surname][name] = found
    return [_group(forms, names) for forms in alike.values()]


def _is_full(found: Person, names: _Names) -> bool:
    """Whether this is the full name of a person: not that of her husband (Mrs. John Smith), and no words in a row of
    which one is ordinary (Poor France)."""
    by_name = found._replace(gender="").apparent_gender
    if (found.gender == "female" and by_name != "female") or (found.gender == "male" and by_name == "female"):
        return False
    words = (word for word in (*found.given, found.surname) if len(word) > 1)
    return found.has_common_given_name or (not found.is_ranked and not any(word in names.small for word in words))


def _group(forms: Mapping[str, Person], names: _Names) -> _Group:
    counts: Counter[str] = Counter()
    for form in forms:
        counts[untitled(form)] += names.count[form]
    written = min(counts, key=lambda name: (-counts[name], -len(name), name))
    longest = max(forms.values(), key=lambda one: (len(one.given), one))
    types = {type_ for form in forms for type_ in names.types[form]} - {""}
    several = len(types) > 1 or any(
        one.suffix != longest.suffix or not _is_within(one.given, longest.given) for one in forms.values()
    )
    return _Group(forms, (written, min(types, default="")), several)


def _without_title(group: _Group) -> Iterator[tuple[str, Name]]:
    for form, found in group.forms.items() if not group.several else ():
        if found.title and (found.has_common_given_name or untitled(form) in group.forms):
            yield form, (untitled(form), group.full[1])


def _is_within(some: Sequence[str], all_: Sequence[str]) -> bool:
    """Whether given names are among others, in order. An initial stands for any name that it begins."""
    rest = iter(all_)
    return all(any(_is_same(one, other) for other in rest) for one in some)


def _is_same(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) == 1 and one[0] == other[0])


def _meant(name: str, found: Person, alike: Sequence[_Group], names: _Names, full: Mapping[str, Name]) -> _Group | None:
    """The only person that a short name can stand for."""
    if found.has_initials:
        alike = [
            group
            for group in alike
            if _is_same(found.given[0], group.given)
            and any(_is_within(found.given, one.given) for one in group.forms.values())
        ]
    elif found.given:  # van Gogh
        size = len(found.given)
        alike = [group for group in alike if any(one.given[-size:] == found.given for one in group.forms.values())]
    if len(alike) != 1 or alike[0].several:
        return None
    (group,) = alike
    if found.title and not _fits_title(name, found, group, names):
        return None
    if found.title:
        return group
    if found.has_initials:
        return None if _is_eponym(name, group, names) else group
    return group if _is_alone(name, found, group, names, full) and _is_shown(name, found, group, names) else None


def _fits_title(name: str, found: Person, group: _Group, names: _Names) -> bool:
    if found.gender and group.gender and found.gender != group.gender:
        return False
    if found.gender == "female" and not group.gender:
        return False
    if found.has_initials:
        return True
    titles = names.titles.get(found.surname, set())
    if found.gender == "female" and len({title for title, gender in titles if gender == "female"}) > 1:
        return False  # Mrs. and Miss Bennet
    if found.gender == "male" and not group.gender and any(gender == "female" for _, gender in titles):
        return False
    is_shared = any(one.title == found.title for one in group.forms.values())
    return (is_shared or found.is_civil) and names.is_introduced(name, group.forms)


def _is_alone(name: str, found: Person, group: _Group, names: _Names, full: Mapping[str, Name]) -> bool:
    """Whether nothing else in the document can be meant by a surname or a given name."""
    for other in names.with_word[found.surname]:
        its = full.get(other)
        if other not in group.forms and its != group.full and normalise(other) != normalise(name):
            return False
    if not names.is_introduced(name, group.forms) or _is_eponym(name, group, names):
        return False
    return not any(_is_other(before, after, found, group) for before, after in names.around([name]))


def _is_eponym(name: str, group: _Group, names: _Names) -> bool:
    """Whether something else is named after this person, as far as the document shows."""
    if any(_ACTS.match(after) for _, after in names.around([name])):
        return False
    return any(_GIVES_ITS_NAME.search(before) for before, _ in names.around(group.forms))


def _is_other(before: str, after: str, found: Person, group: _Group) -> bool:
    """Whether the text around a short name shows that it is a place, a work or another person."""
    if _NOT_OF_PEOPLE.search(before) or before[-1:] + after[:1] in _QUOTED:
        return True
    if nicknamed := _NICKNAMED.search(before):
        given = {one.given[0] for one in group.forms.values()}
        if given.isdisjoint(map(bare, nicknamed.groups())):
            return True
    if _KIN.search(before):
        return True
    if found.surname == group.surname:
        return False
    if _LISTED.search(before) and _LIST.match(after):
        return True  # brothers and sisters
    both = _BOTH.match(after)
    return bool(both and both[1][0].isupper() and bare(both[1]) != group.surname)


def _is_shown(name: str, found: Person, group: _Group, names: _Names) -> bool:
    """Whether the document shows that this is a person."""
    if bare(name) in names.small:
        return False
    if any(one.has_common_given_name or one.title for one in group.forms.values()):
        return True
    if any(_ACTS.match(after) or _SPOKEN_BY.search(before) for before, after in names.around([name])):
        return True
    return found.surname == group.surname and any(
        _LIVED.match(after) or _OF_A_PERSON.search(before) for before, after in names.around(group.forms)
    )


def _single_types(names: _Names, full: Mapping[str, Name]) -> dict[str, str]:
    """The type of each normal form that the document gives one type, and none elsewhere."""
    types: defaultdict[str, set[str]] = defaultdict(set)
    for written, its in names.types.items():
        for type_ in its:
            name, typed = _full(full, written, type_)
            types[normalise(name)].add(typed)
    return {normal: max(its) for normal, its in types.items() if len(its) == 2 and "" in its}


def _full(full: Mapping[str, Name], written: str, type_: str) -> Name:
    name, known = full.get(written, (written, type_))
    return name, known or type_


def _renamed(chunk: Chunk, full: Mapping[str, Name], types: Mapping[str, str]) -> Chunk:
    known = {tidy(mention.name) for mention in chunk.mentions}
    spelled = {normalise(name): name for name in sorted(known, reverse=True)}

    def renamed(name: str, type_: str) -> Name:
        name, type_ = _full(full, name, type_)
        return name, type_ or types.get(normalise(name), "")

    def end(name: str, type_: str) -> Name:
        if name not in known:
            name = spelled.get(normalise(name), name)
        has_type = type_ or name not in known  # otherwise the type is that of the chunk's mention
        name, type_ = renamed(name, type_)
        return name, type_ if has_type else ""

    mentions = [
        replace(one, name=name, type=type_)
        for one in chunk.mentions
        for name, type_ in [renamed(tidy(one.name), tidy(one.type))]
    ]
    links = [
        _between(one, end(tidy(one.source), tidy(one.source_type)), end(tidy(one.target), tidy(one.target_type)))
        for one in chunk.links
    ]
    return replace(chunk, mentions=tuple(mentions), links=tuple(link for link in links if link))


def _between(link: Link, source: Name, target: Name) -> Link | None:
    """The link between these names; None if two names of one person were its ends."""
    if source[0] == target[0] and tidy(link.source) != tidy(link.target):
        return None
    is_directed = bool(link.description or link.keywords or link.source > link.target)
    if not is_directed and source[0] > target[0]:  # the ends of a co-occurrence are in alphabetical order
        source, target = target, source
    return replace(link, source=source[0], source_type=source[1], target=target[0], target_type=target[1])
