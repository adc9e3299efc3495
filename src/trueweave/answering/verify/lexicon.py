"""English words that turn, bound or weaken a statement. Lemmas, as `clauses.lemma` gives them."""

from __future__ import annotations

from collections.abc import Mapping


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _pairs(text: str) -> Mapping[str, frozenset[str]]:
    """Each word with its opposites. A line has two sides, each with words that mean the same."""
    opposites: dict[str, set[str]] = {}
    for line in text.strip().splitlines():
        left, right = (word_set(side) for side in line.split("|"))
        for one in left:
            opposites.setdefault(one, set()).update(right)
        for one in right:
            opposites.setdefault(one, set()).update(left)
    return {word: frozenset(others) for word, others in opposites.items()}


NEGATORS = word_set("no not never none nobody nothing nowhere neither nor without cannot unless hardly scarcely barely")
# Verbs and adjectives that deny what they speak of.
DENIALS = word_set(
    "fail refuse reject decline deny lack withhold forbid prohibit ban bar exempt spare omit exclude "
    "abstain waive pend cancel absent free unable impossible"
)
DENYING_PHRASES = (
    ("rule", "out"), ("leave", "out"), ("turn", "down"), ("stay", "away"), ("keep", "away"), ("stay", "out"),
    ("advise", "against"), ("instead", "of"), ("rather", "than"), ("short", "of"), ("far", "from"), ("no", "longer"),
    ("say", "no"),
)  # fmt: skip
# These begin with a negator and deny nothing: they bound a number.
BOUNDING_PHRASES = (("no", "more", "than"), ("no", "less", "than"), ("no", "fewer", "than"), ("not", "only"))
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non", "dis")

OPPOSITES = _pairs(
    """
    rise increase grow gain climb improve raise | fall decrease shrink drop decline lose lower reduce worsen cut
    up more higher above | down less fewer lower below
    raise lower cut | leave
    accept approve allow grant uphold agree permit pass | reject refuse dismiss deny disallow decline fail
    win beat | lose
    buy purchase acquire | sell
    open reopen | close shut
    before earlier | after later
    support favour | oppose against
    admit confess concede | deny
    early | late
    high highest | low lowest
    large largest big | small smallest
    long longer longest | short shorter shortest
    young youngest | old oldest
    first | last
    most maximum | least minimum
    more | few fewer less
    inward | outward
    begin start | end stop finish
    export | import
    profit | loss
    credit | debit
    hire employ | fire dismiss
    arrive enter | leave depart
    spare save survive | kill destroy hang
    survive live recover | die perish
    survive stand remain | collapse destroy carry
    fairly fair | unfairly unfair
    on | off
    strengthen | weaken
    faster fast quick | slower slow slowly
    better | worse
    severe severely badly serious | mild mildly slightly slight minor
    rich wealthy | poor bankrupt
    overstate | understate
    include | exclude
    present | absent
    public | private
    male man men | female woman women
    northern north | southern south
    eastern east | western west
    same equal unchange | differ different change higher lower rise fall increase decrease more less
    with | without
    succeed | fail
    safe | dangerous unsafe
    guilty | innocent
    true | false
    cheap cheaper | expensive dear
    adult | child children
    orally oral | writing written
    """
)

MUST = word_set("must shall require oblige need mandatory compulsory")
MAY = word_set("may can could might allow permit possible possibly option optional able")
# Words by which something is said to be possible, believed or planned, and not to be so.
HEDGES = word_set(
    "may might can could would suspect believe likely probably perhaps possibly possible expect plan propose intend "
    "appear seem suggest estimate think allege claim hope consider mean caution warn predict forecast"
)
WEAKENING = HEDGES - MAY | word_set("may might")
FUTURE = word_set("will plan propose expect intend promise going schedule due be-to")
PAST_BE = word_set("was were")
CERTAIN = word_set("certainly prove definitely surely proven undoubtedly explain")

UNIVERSAL = word_set("all every everybody everyone everything always whole entire entirely")
# What a passage may say for it.
AS_UNIVERSAL = UNIVERSAL | word_set("throughout both none no nobody neither never any")
EXCEPTIONS = word_set("but except save")
PARTIAL = word_set("most some part partly half many several few only mainly mostly almost nearly but except")

CAUSES = word_set("because cause due result lead reason explain owing thanks")
# How a passage may give one, though these words often mean something else.
GIVING_CAUSES = CAUSES | word_set("as after until since so for by when make to")
BEFORE_CAUSES = word_set("because since due owing")  # the cause comes after them

# Words for which a number is counted or measured; two of one group cannot be exchanged.
UNITS: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "time": "second minute hour day week month year decade century",
        "money": "dollar euro pound franc crown krona ducat yen cent",
        "scale": "thousand million billion trillion",
        "percent": "percent %",
        "points": "point",
        "length": "millimetre centimetre metre kilometre mile foot inch yard millimeter centimeter meter kilometer",
        "mass": "gram kilogram tonne ton milligram pound",
        "volume": "litre liter millilitre gallon",
        "power": "watt kilowatt megawatt gigawatt",
        "temperature": "celsius fahrenheit kelvin",
    }.items()
    for word in words.split()
}
PERIODS = word_set("second minute hour day week month year night quarter")

# What one side does when the other does the opposite: who is who decides.
CONVERSES = word_set("win beat lose buy sell give receive export import")

VERBS = DENIALS - word_set("free absent unable impossible") | word_set(
    """
    rise increase grow gain climb improve raise fall decrease shrink drop decline lose lower reduce worsen cut accept
    approve allow grant uphold agree permit pass reject refuse dismiss deny disallow win beat buy purchase acquire sell
    open reopen close shut support favour oppose admit confess concede begin start end stop finish export import hire
    employ arrive enter leave depart save survive kill destroy hang live recover die perish stand remain collapse carry
    strengthen weaken overstate understate include exclude differ succeed
    say keep move hold want make pay own lead run work go come take give become contain need bear cost last serve use
    call name try ask tell show find get put set send bring build write read play add turn draw advise suspect believe
    expect plan propose promise estimate charge change treat require issue report record count cover store stay
    """
)
# Nouns that may stand for any actor.
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
