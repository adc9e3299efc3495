"""Names of people: their titles, given names and surname, as far as spelling shows them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from trueweave.text.folding import bare
from trueweave.text.given_names import FEMALE, MALE
from trueweave.text.stopwords import word_list

Gender = Literal["", "male", "female"]
_NEUTRAL: Gender = ""

# Titles that are followed by a surname.
_OF_MEN = frozenset(word_list("mr mister herr monsieur signor señor senor"))
_OF_WOMEN = frozenset(word_list("mrs ms miss mme madame mlle mademoiselle frau fräulein signora señora senora"))
_OF_ALL = frozenset(
    word_list("""
    dr doctor doktor prof professor captain capt colonel col lieutenant lt sergeant sgt senator sen governor gov
    president judge justice rev reverend bishop archbishop admiral commander inspector detective ambassador mayor
    commissioner chancellor hon
    """)
)
# Titles that may be followed by a given name, a dominion or a word that is no name: King Charles, Lord Stanley, General
# Motors.
_OF_RANK: dict[str, Gender] = {
    **dict.fromkeys(word_list("sir lord king prince duke count earl baron emperor father brother uncle"), "male"),
    **dict.fromkeys(
        word_list("lady dame queen princess duchess countess baroness empress mother sister aunt"), "female"
    ),
    **dict.fromkeys(word_list("general gen major maj pope saint cardinal chief coach secretary"), ""),
}
_CIVIL = _OF_MEN | _OF_WOMEN | frozenset(word_list("dr doctor doktor prof professor"))
_SUFFIXES = frozenset(word_list("jr sr"))
_PARTICLES = frozenset(word_list("de del della di da do dos das du des la le van von der den ter ten zu bin ibn al el"))
# Words that no name of a person has.
_NOT_OF_PEOPLE = frozenset(
    word_list("""
    a academy act african agency ah airlines airport album all alliance american an and april archive archives area
    army art arts assembly association august australian avenue award awards band bank basin battle bay beach bible
    board book books border boulevard bowl boy boys bridge british broadcasting bros brothers building bureau business
    but cabinet camp campaign campus canadian canal capital castle cathedral catholic cemetery center central centre
    century championship championships chancellor channel chapel chapter chinese christian chronicle church cinema
    circle circuit city civil classic club coast code coffee collection college colonial colony commission committee
    commonwealth community companies company conference congress constitution convention corporation corps council
    county court creek cross crown cup day days december declaration department depot desert development diocese
    district division dock drive dutch dynasty east eastern edition editions eight election elementary empire energy
    engine english entertainment episode era estate estates european exchange exhibition expedition express eye
    factory fair falls family farm february federal federation festival field film films fire first five fleet
    football force forces forest fort forum foundation four franchise french friday fund gallery game games garden
    gardens gate gazette general german girl girls glacier government governor grand great group grove guard guide
    gulf hall harbor harbour headquarters heights her herald high highway hill hills his historic history holdings
    home hospital hotel house how hurricane i i'll i'm i've if inc indian industries inn institute institution
    international irish islamic island islander islanders islands isle italian january japanese jazz jewish journal
    july junction june kingdom laboratory lake land lane language languages law league legend library life lighthouse
    limited line lines literature live lodge love ltd magazine mall man manor march market mayor medal media medical
    memorial men methodist military mill mills mine mines minister ministry mission monday monument morning motor
    motors mount mountain mountains movement museum music my national nations navy network new news night nine no
    north north-east north-west northern not november observatory ocean october office oh old olympic olympics one
    opera or orchestra order our palace paper papers parish park parkway parliament party pass path peninsula people
    peoples performance place plan plane plant plaza point police pond port post power prairie press prison prize
    productions program project protestant province public publications publisher publishers publishing race radio
    railroad railway ranch range record records red reef reform region regional relations religion republic research
    reserve reservoir resort restaurant revolution revue ridge river road rock roman room route royal russian saga
    saturday scale school schools science scottish sea season senate senator september series service session seven
    shore show shrine six society song songs sound south southern spanish special spring springs square st stadium
    star state states station story strait street studio studios summer summit sunday supreme survey swamp symphony
    syndrome system systems tale team technology television temple ten terminal territory test that the theater
    theatre their theory these this those three thursday times tour tournament tower town township trail treaty tribe
    trilogy trophy trust tuesday tunnel tv two union united university valley version victory village wall war water
    waters way wednesday week welsh west western what when where who why wilderness winter woman women wood woods
    works world world's year years yes young your zone zoo
    """)
)
_WORD = re.compile(r"[^\W\d_]+(?:['’‘-][^\W\d_]+)*\.?")
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+|[^\W\d_]")
_REGNAL = re.compile(r"[IVX]{1,5}")
_MOST_WORDS = 6


class Person(NamedTuple):
    """The parts of a name that may be a person's: without case, accents and full stops. A name of one word has it as
    surname, whether it is one or a given name. After a title of rank there may be another word than a surname."""

    title: str
    gender: Gender  # that the title shows
    is_ranked: bool
    given: tuple[str, ...]
    surname: str
    suffix: str

    @property
    def has_initials(self) -> bool:
        """Whether it begins with an initial."""
        return bool(self.given) and len(self.given[0]) == 1

    @property
    def is_short(self) -> bool:
        """Whether the first given name is missing or an initial."""
        return not self.given or self.has_initials or self.given[0] in _PARTICLES

    @property
    def is_bare(self) -> bool:
        """Whether it is a surname or a given name alone."""
        return not self.title and self.is_short and not self.has_initials

    @property
    def is_civil(self) -> bool:
        """Whether the title is one that many people have."""
        return self.title in _CIVIL

    @property
    def has_common_given_name(self) -> bool:
        """Whether the first given name is a common one."""
        return bool(self.given) and (self.given[0] in MALE or self.given[0] in FEMALE)

    @property
    def apparent_gender(self) -> Gender:
        """The gender that the title or the first given name shows, if any."""
        first = self.given[0] if self.given else ""
        return self.gender or ("male" if first in MALE else "female" if first in FEMALE else "")


@lru_cache(maxsize=65536)
def person(name: str) -> Person | None:
    """The parts of a name; None if it cannot be that of a person."""
    words = re.sub(r",(?=\s+(?:Jr|Sr)\b)", "", name).split()
    if not 0 < len(words) <= _MOST_WORDS or any(not _WORD.fullmatch(w) and not _INITIALS.fullmatch(w) for w in words):
        return None
    title, gender, is_ranked, at = "", _NEUTRAL, False, 0
    while at < len(words) - 1 and (found := _title(words[at])):
        title, gender, is_ranked = found[0], found[1] or gender, found[2]
        at += 1
    rest = words[at:]
    suffix = ""
    if len(rest) > 1 and _plain(rest[-1]) in _SUFFIXES:
        suffix = _plain(rest.pop())
    if not rest or _INITIALS.fullmatch(rest[-1]) or _REGNAL.fullmatch(rest[-1]):
        return None
    plain = [part for word in rest for part in _parts(word)]
    if any(word in _NOT_OF_PEOPLE for word in plain) or not all(map(_may_be_part, rest[1:-1])):
        return None
    if any(map(_title, rest[1:-1])) or any(word.endswith("'s") for word in plain):
        return None
    if not (rest[0][0].isupper() and rest[-1][0].isupper()):
        return None
    return Person(title, gender, is_ranked, tuple(plain[:-1]), plain[-1], suffix)


def _may_be_part(word: str) -> bool:
    return word[0].isupper() or word.casefold() in _PARTICLES


def _parts(word: str) -> list[str]:
    """A word as it is compared; the letters of initials, one by one."""
    if _INITIALS.fullmatch(word):
        return [bare(one) for one in word if one.isalpha()]
    return [_plain(word)]


def _plain(word: str) -> str:
    return bare(word.rstrip(".").replace("’", "'").replace("‘", "'"))


def _title(word: str) -> tuple[str, Gender, bool] | None:
    plain = word.rstrip(".").casefold()
    if plain in _OF_MEN:
        return plain, "male", False
    if plain in _OF_WOMEN:
        return plain, "female", False
    if plain in _OF_ALL:
        return plain, "", False
    if plain in _OF_RANK:
        return plain, _OF_RANK[plain], True
    return None


def untitled(name: str) -> str:
    """The name without the titles before it."""
    words = name.split()
    at = 0
    while at < len(words) - 1 and _title(words[at]):
        at += 1
    return " ".join(words[at:])
