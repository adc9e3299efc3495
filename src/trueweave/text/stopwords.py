"""Stop words: words without meaning of their own, capitalised words that are not names, and words inside names."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(text.split())


# Words that carry no meaning by themselves, by language.
FUNCTION_WORDS = {
    "en": frozenset(
        word_list("""
        the and of to in is are was were be been being has have had do does did not no yes that this these those it
        its with for from by on at as or but which who whom whose what when where why how there here they them their
        he him his she her you your we our us will would can could may might must shall should than then so if also
        only both into about after before between during through over under such some any all each every other more
        most very because while however according although though thus therefore hence moreover furthermore
        meanwhile nevertheless nonetheless otherwise instead since until unless whether whereas despite besides
        within without among against around across along upon up down out off again still yet too even just often
        always never sometimes usually later soon today now once another either neither many several few much one
        two three four five six seven eight nine ten next last overall likewise together per like unlike near me my
        mine
        """)
    ),
    "de": frozenset(
        word_list("""
        der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren
        wird werden wurde wurden hat haben hatte sein mit von vom zu zum zur im in auf aus bei nach für über unter
        durch als wie auch nur noch sich es er sie wir ihr dass wenn weil was wer wo wann warum ja nein laut
        """)
    ),
    "fr": frozenset(
        word_list("""
        le la les un une des du de et ou mais est sont était étaient être été ont avait avec pour par dans sur sous
        sans que qui quoi dont où quand comment ne pas plus il elle ils elles nous vous ce cette ces se sa son ses
        leur au aux en oui non selon
        """)
    ),
    "es": frozenset(
        word_list("""
        el la los las un una unos unas de del y o pero es son era eran fue fueron ser ha han había con para por en
        sobre sin que quien donde cuando como no más se su sus lo le les al este esta estos según sí también
        """)
    ),
    "it": frozenset(
        word_list("""
        il lo la gli le un uno una di del della dei delle e o ma è sono era erano fu essere stato ha hanno con per
        da dal dalla in nel nella su che chi dove quando come non più si suo sua al alla questo questa sì anche
        """)
    ),
    "pt": frozenset(
        word_list("""
        o a os as um uma de do da dos das e ou mas é são era eram foi foram ser tem com para por em no na nos nas
        sobre sem que quem onde quando como não mais se seu sua ao este esta sim também
        """)
    ),
    "nl": frozenset(
        word_list("""
        de het een en of maar is zijn was waren wordt werd werden heeft hebben had niet geen met van voor door op in
        aan bij naar uit over als ook dat die dit deze wie wat waar wanneer hoe er hij zij ze wij ja nee
        """)
    ),
}

# Words that begin sentences and are not part of a name that follows. May, Next and Last do begin names.
COMMON = (FUNCTION_WORDS["en"] - frozenset(word_list("last likewise may next whether"))).union(
    word_list("""
    a an same none i ours yours hers theirs twelve twenty hundreds others nor notwithstanding onto above below
    amongst throughout behind beside beyond outside inside past plus via versus toward towards am done having
    let yesterday tomorrow earlier ago already generally typically originally initially finally eventually
    subsequently recently currently formerly previously afterwards following additionally apart approximately
    collectively commonly consequently due especially exactly except historically immediately including indeed
    mainly mostly namely nearly notably nowadays particularly perhaps prior regarding similarly simply situated
    specifically traditionally ultimately unfortunately based born died known named called located founded
    established built made given see note please appointed awarded considered constructed created designed
    developed directed featured filmed formed included introduced launched managed nominated opened owned
    performed produced published raised recorded registered released selected set written various less least
    well there's it's he's she's i'm i've i'll we're you're they're don't didn't doesn't isn't wasn't won't
    can't
    """)
)

# Words of headings that can stand over any document.
OUTLINE = frozenset(
    word_list("""
    abstract acknowledgements acknowledgments appendix background bibliography chapter conclusion conclusions
    contents discussion document external further glossary home index introduction links methods note notes overview
    page part preface reading readme references related results section see also sources summary table of the and
    untitled work
    """)
)

# Words that are part of many names, but not names by themselves.
NEVER_ALONE = COMMON.union(
    OUTLINE,
    word_list("""
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

# Lower-case words inside a name: University of Cambridge, Ludwig van Beethoven, Alexander the Great.
INSIDE = word_list("""
    of the de del della dei di da do dos das du des la le les el al van von vom der den ter ten zu zur und bin ibn
    bint ben abu av af och y e &
""")
