"""Abbreviations, after which a full stop does not end a sentence."""

from __future__ import annotations

from trueweave.text.stopwords import word_list

# Before a name.
TITLES = word_list("""
    St Ste Dr Mr Mrs Ms Mx Prof Mt Ft Lt Col Gen Sgt Capt Cpt Cmdr Maj Rev Hon Gov Sen Rep Pres Fr Br No
""")
# Abbreviations in names. The extractor `capitals` knows only these: more of them would change what it finds.
IN_NAMES = frozenset(TITLES).union(word_list("Sr Jr Nr Vol Fig Inc Ltd Co Corp Bros vs etc cf ca approx e.g i.e"))
# All in lower case, except etc., which often ends a sentence.
ALL = frozenset(one.lower() for one in IN_NAMES - {"etc"}).union(
    word_list("""
    figs eg ie p pp ed eds al op cit art sec ch dept est max min
    z.b d.h u.a bzw usw ggf evtl vgl abb hr geb gest jh jan feb mar apr jun jul aug sep sept oct nov dec
    m mm mme mlle sra srta av núm pág
    """)
)
