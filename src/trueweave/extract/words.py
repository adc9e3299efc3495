"""Words that begin sentences or stand in capitals without being names, and what holds names together."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Begin sentences, and are no part of a name that follows.
COMMON = frozenset(
    _words("""
    a an the this that these those such same other another each every either neither both all any some none no not i
    me my mine we us our ours you your yours he him his she her hers it its they them their theirs who whom whose
    which what when where why how there here one two three four five six seven eight nine ten twelve twenty hundreds
    others and or but nor so yet if unless until while whereas because since although though even still also too
    only just than then thus hence therefore however moreover furthermore meanwhile nevertheless nonetheless
    notwithstanding otherwise in on at by to for from of off with without within into onto upon over under above
    below about after before between among amongst during through throughout across against along around behind
    beside besides beyond despite down near out outside inside past per plus up via versus toward towards like
    unlike as is are was were be been being am do does did done have has had having can could might must shall
    should will would let now today yesterday tomorrow once later soon earlier again ago already always never often
    sometimes usually generally typically originally instead initially finally eventually subsequently recently
    currently formerly previously afterwards according following additionally apart approximately collectively
    commonly consequently due especially exactly except historically immediately including indeed mainly mostly
    namely nearly notably nowadays overall particularly perhaps prior regarding similarly simply situated
    specifically together traditionally ultimately unfortunately based born died known named called located founded
    established built made given see note please yes appointed awarded considered constructed created designed
    developed directed featured filmed formed included introduced launched managed nominated opened owned performed
    produced published raised recorded registered released selected set written many much more most few several
    various less least very well there's it's he's she's i'm i've i'll we're you're they're don't didn't doesn't
    isn't wasn't won't can't
    """)
)

# Headings that may stand over any document are made of these.
OUTLINE = frozenset(
    _words("""
    abstract acknowledgements acknowledgments appendix background bibliography chapter conclusion conclusions
    contents discussion document external further glossary home index introduction links methods note notes overview
    page part preface reading readme references related results section see also sources summary table of the and
    untitled work
    """)
)

# Part of many names, and none by themselves.
NEVER_ALONE = COMMON.union(
    OUTLINE,
    _words("""
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december american british english french german first second third last next new old
    good great long high low large small early late further own part national annual average local original
    population president
    der die das den dem des ein eine und oder aber auf aus bei mit nach von zu im als wie er sie es wir ihr ist war
    le la les un une du et ou mais dans sur pour par avec sans il elle ils elles nous vous ce cette est el los las
    una y o pero en con por para sin lo su sus era gli uno e ed ma nel nella tra fra si het een maar op bij voor met
    naar uit om te hij zij wij dit dat os um uma na dos
    """),
)

# Small words inside a name: University of Cambridge, Ludwig van Beethoven, Alexander the Great.
INSIDE = _words("""
    of the de del della dei di da do dos das du des la le les el al van von vom der den ter ten zu zur und bin ibn
    bint ben abu av af och y e &
""")

# Titles before a name, after which a point ends no sentence; nor does it after other short forms.
TITLES = _words("""
    St Ste Dr Mr Mrs Ms Mx Prof Mt Ft Lt Col Gen Sgt Capt Cpt Cmdr Maj Rev Hon Gov Sen Rep Pres Fr Br No
""")
SHORTENED = frozenset(TITLES).union(_words("Sr Jr Nr Vol Fig Inc Ltd Co Corp Bros vs etc cf ca approx e.g i.e"))
