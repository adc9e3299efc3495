"""English words that negate, bound or weaken a statement, as lemmas (see `text.lemmas`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from trueweave.text.words import STEM


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _pairs(text: str, *, same: bool = False) -> Mapping[str, frozenset[str]]:
    """Each word with its opposites, or its synonyms. A line has two sides; the words of a side mean the same."""
    found: dict[str, set[str]] = {}
    for line in text.strip().splitlines():
        left, right = (word_set(side) for side in line.split("|"))
        for side, other in ((left, right), (right, left)):
            for one in side:
                found.setdefault(one, set()).update(side if same else other)
    return {word: frozenset(others) for word, others in found.items()}


NEGATORS = word_set("no not never none nobody nothing nowhere neither nor without cannot unless hardly scarcely barely")
# Verbs and adjectives that deny what they refer to.
DENIALS = word_set(
    "fail refuse reject decline deny lack withhold forbid prohibit ban bar exempt spare omit exclude "
    "abstain waive pend cancel absent free unable impossible"
)
DENYING_PHRASES = (
    ("rule", "out"), ("leave", "out"), ("turn", "down"), ("stay", "away"), ("keep", "away"), ("stay", "out"),
    ("advise", "against"), ("short", "of"), ("far", "from"), ("no", "longer"),
    ("say", "no"),
)  # fmt: skip
# These begin with a negator but deny nothing: they bound a number.
BOUNDING_PHRASES = (
    ("no", "more", "than"), ("no", "less", "than"), ("no", "fewer", "than"), ("no", "later", "than"), ("not", "only"),
    ("not", "more", "than"), ("not", "less", "than"), ("not", "exceed"), ("not", "be", "less", "than"),
    ("not", "be", "more", "than"), ("not", "be", "under"), ("not", "be", "over"), ("not", "be", "below"),
    ("not", "be", "above"),
)  # fmt: skip
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non", "dis")

_OPPOSITE_SIDES = """
    rise increase grow gain climb improve raise | fall decrease shrink drop decline lose lower reduce worsen cut
    rise increase jump soar expand widen | contract narrow plunge slump shorten
    rise increase grow raise | fall decrease plunge slump
    up more higher above | down less fewer lower below
    raise lower cut | leave
    accept approve allow grant uphold agree permit pass | reject refuse dismiss deny disallow decline fail
    approve pass adopt carry uphold | reject withdraw overturn veto dismiss
    win beat | lose
    win lose | draw
    buy purchase acquire | sell
    open reopen | close shut
    before earlier | after later
    support favor back endorse | oppose against resist
    admit confess concede | deny
    introduce enact impose establish | repeal abolish lift revoke scrap
    appoint elect promote | dismiss sack demote
    praise | criticize criticise blame
    convict | acquit
    attack | defend
    join | leave quit
    lend | borrow
    accelerate speed | slow delay
    lengthen extend prolong | shorten curtail
    early | late
    high highest | low lowest
    large big great | small little tiny
    long | short brief
    deep | shallow
    wide broad | narrow
    thick | thin
    heavy | light
    strong | weak
    hot warm | cold cool
    wet | dry
    hard | soft
    near close | far distant
    common frequent numerous often | rare seldom rarely infrequent
    simple easy | complex complicated difficult hard
    young | old
    new | old
    tall | short
    first | last
    first | second third
    most maximum | least minimum
    more | few fewer less
    inward | outward
    inside indoor | outside outdoor
    begin start | end stop finish
    export | import
    profit | loss
    surplus | deficit
    asset | liability
    credit | debit
    hire employ | fire dismiss
    arrive enter | leave depart
    spare save survive | kill destroy hang
    survive live recover | die perish
    survive stand remain | collapse destroy carry
    fairly fair | unfairly unfair
    on | off
    strengthen | weaken
    fast quick quickly rapid rapidly | slow slowly
    better | worse
    best | worst
    severe severely badly serious | mild mildly slightly slight minor
    rich wealthy | poor bankrupt debt
    overstate | understate
    include | exclude
    present | absent
    public | private
    male man men boy | female woman women girl
    father | mother
    son | daughter
    brother | sister
    husband | wife
    uncle | aunt
    northern north northward | southern south southward
    eastern east eastward | western west westward
    left | right
    upper | lower
    top | bottom
    summer | winter
    spring | autumn
    day daytime | night
    morning | evening afternoon
    urban | rural
    domestic | foreign
    living alive | dead deceased
    same equal unchanged unchange identical | differ different change higher lower rise fall increase decrease more less
    with | without
    succeed | fail
    safe | dangerous unsafe
    guilty | innocent
    true | false
    normal | abnormal
    cheap | expensive dear costly
    adult | child children
    orally oral | writing written
    minority | majority
    ancestor | descendant
    buyer | seller
    landlord | tenant
    employer | employee
    lender | borrower
    plaintiff claimant | defendant
    wood wooden | stone brick concrete steel
    ahead | behind
    toward towards | away
"""
OPPOSITES = _pairs(_OPPOSITE_SIDES)
_ALIKE = """
    die death kill fatal
    buy purchase acquire takeover
    begin start open launch found establish
    end finish close stop cease
    hire employ staff
    worker employee
    work job position post
    get receive obtain earn
    give grant award hand
    allow permit let
    need require necessary
    build construct erect
    company firm business enterprise
    plant factory works site
    pupil student
    car vehicle
    ship boat vessel
    doctor physician
    ill sick illness disease sickness unwell
    participant patient subject people person
    house home building
    lead head direct chair command manage
    reach arrive
    leave depart quit resign
    choose select pick
    make produce manufacture
    sell sale
    lose loss
    grow growth
    live inhabitant resident dwell population
    eat feed browse graze
    flower bloom blossom
    teach instruct learn train
    help assist aid
    think believe consider opinion
    say state tell according
    cause reason why
    show demonstrate reveal
    vote ballot election elect
    judge court rule hold
    rule ban law regulation
    beat defeat win victory
    rent lease
    fee price cost charge
    repair fix mend
    replace exchange swap
    hurt injure wound harm
    find discover detect
    keep retain maintain
    break rupture fracture
    road street highway
    movie film
    elevator lift
    apartment flat
    railway railroad train
    autumn fall
    holiday vacation
    truck lorry
    shop store
"""


def _groups(text: str) -> Mapping[str, frozenset[str]]:
    lines = [word_set(line) for line in text.strip().splitlines()]
    return {word: frozenset().union(*(line for line in lines if word in line)) for line in lines for word in line}


SMALL = word_set("less few fewer low lower small short light young slow shallow narrow weak early cheap near thin cold")

# Words that a paraphrase may exchange. Words on the same side of a pair of opposites are also synonyms.
SYNONYMS = {
    word: alike.get(word, frozenset()) | sides.get(word, frozenset())
    for alike, sides in ((_groups(_ALIKE), _pairs(_OPPOSITE_SIDES, same=True)),)
    for word in alike.keys() | sides.keys()
}


@lru_cache(maxsize=4096)
def base(word: str) -> str:
    """The positive form of a comparative or superlative that has an opposite: long for longer and longest."""
    if word in OPPOSITES:
        return word
    for ending in ("er", "est"):
        stem = word.removesuffix(ending)
        if stem == word:
            continue
        for form in (stem, stem + "e", stem[:-1] + "y" if stem.endswith("i") else stem, stem[:-1]):
            if form in OPPOSITES:
                return form
    return word


MUST = word_set("must shall require oblige need mandatory compulsory")
WRITTEN_WITH_OUR = word_set(
    "arbour armour behaviour candour clamour colour demeanour endeavour favour fervour glamour harbour honour humour "
    "labour misdemeanour neighbour odour parlour rigour rumour saviour savour splendour tumour vapour vigour"
)


def related(lemmas: Iterable[str], *, opposites: bool = False) -> frozenset[str]:
    """The stems of synonyms of these words, and with `opposites` also of their opposites."""
    found: set[str] = set()
    for word in map(base, lemmas):
        found |= SYNONYMS.get(word, frozenset())
        if opposites:
            found |= OPPOSITES.get(word, frozenset())
    return frozenset(word[:STEM] for word in found)


MAY = word_set("may can could might allow permit possible possibly option optional able")
# Words that present something as possible, believed or planned rather than as a fact.
HEDGES = word_set(
    "may might can could would suspect believe likely probably perhaps possibly possible expect plan propose intend "
    "appear seem suggest estimate think allege claim hope consider mean caution warn predict forecast recommend urge "
    "demand request aim wish"
)
WEAKENING = HEDGES - MAY | word_set("may might")
FUTURE = word_set("will plan propose expect intend promise going schedule due be-to")
PAST_BE = word_set("was were")
CERTAIN = word_set("certainly prove definitely surely proven undoubtedly explain")

UNIVERSAL = word_set("all every everybody everyone everything always whole entire entirely")
# Words that a passage may use instead.
AS_UNIVERSAL = UNIVERSAL | word_set("throughout both none no nobody neither never any")
PARTIAL = word_set("most some part partly half many several few only mainly mostly almost nearly but except")

CAUSES = word_set("because cause due result lead reason explain owing thanks")
# Words by which a passage may give a cause, though they often mean something else.
GIVING_CAUSES = CAUSES | word_set("as after until since so for by when make to")
BEFORE_CAUSES = word_set("because since due owing")  # the cause follows them

# Units that a number may have, by kind.
UNITS: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "time": "second minute hour day week month year decade century",
        "money": "dollar euro pound franc crown krona krone kroner kronor guilder ducat yen rupee yuan cent",
        "scale": "thousand million billion trillion",
        "percent": "percent %",
        "points": "point",
        "length": "millimeter centimeter meter kilometer mile foot inch yard",
        "mass": "gram kilogram tonne ton milligram nanogram microgram",
        "area": "hectare acre",
        "volume": "liter milliliter gallon",
        "power": "watt kilowatt megawatt gigawatt",
        "temperature": "celsius fahrenheit kelvin",
    }.items()
    for word in words.split()
}
PERIODS = word_set("second minute hour day week month year night quarter")

# What one side does when the other does the opposite: the roles decide.
CONVERSES = word_set("win beat lose buy sell give receive export import lend borrow")

VERBS = DENIALS - word_set("free absent unable impossible") | word_set(
    """
    rise increase grow gain climb improve raise fall decrease shrink drop decline lose lower reduce worsen cut accept
    approve allow grant uphold agree permit pass reject refuse dismiss deny disallow win beat buy purchase acquire sell
    open reopen close shut support favor oppose admit confess concede begin start end stop finish export import hire
    employ arrive enter leave depart save survive kill destroy hang live recover die perish stand remain collapse carry
    strengthen weaken overstate understate include exclude differ succeed
    say keep move hold want make pay own lead run work go come take give become contain need bear cost last serve use
    call name try ask tell show find get put set send bring build write read play add turn draw advise suspect believe
    expect plan propose promise estimate charge change treat require issue report record count cover store stay
    """
)
# Nouns that can stand for any actor.
GENERIC = frozenset(
    word[:5]
    for word in word_set(
        "company firm group party state country man woman people person organisation organization institution project "
        "agency government study trial report document passage author both together others other total number"
    )
)
COMMON_VERBS = word_set("keep make have get take give go come say be do become show find call put set")

NUMERALS = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion"
)
