"""Lemmas of English words, by rules and a list of irregular forms."""

from __future__ import annotations

import re
from functools import lru_cache

from trueweave.text.folding import bare
from trueweave.text.words import POSSESSIVE

IRREGULAR = {
    form: lemma
    for line in """
    fall fell fallen|rise rose risen|win won|lose lost|buy bought|sell sold|build built|hold held|lead led
    write wrote written|take took taken|give gave given|go went gone|come came|make made|find found|say said
    show shown|draw drew drawn|run ran|keep kept|leave left|pay paid|lay laid|send sent|hang hung hanged
    choose chose chosen|speak spoke spoken|grow grew grown|begin began begun|know knew known|see saw seen
    steal stole stolen|break broke broken|bring brought|teach taught|think thought|tell told|stand stood
    understand understood|become became|get got gotten|meet met|feel felt|freeze froze frozen|drive drove driven
    eat ate eaten|forget forgot forgotten|shut|cut|put|set|beat beaten|spread|hurt|die died dies dying
    lie lay lain|child children|woman women|man men|tooth teeth|foot feet|person people|can cannot
    cancel cancelled|forbid forbidden forbade|spend spent|lend lent|lower lowered|open opened|offer offered
    answer answered|cover covered|differ differed|suffer suffered|admit admitted|permit permitted|occur occurred
    refer referred|transfer transferred|deny denied denies|try tried tries|agree agreed|guarantee guaranteed
    uphold upheld|withdraw withdrew withdrawn|undergo underwent undergone|overcome overcame|throw threw thrown
    fly flew flown|sing sang sung|swim swam swum|drink drank drunk|ring rang rung|sink sank sunk|wear wore worn
    tear tore torn|hear heard|catch caught|fight fought|seek sought|shoot shot|strike struck|sleep slept|sweep swept
    deal dealt|mean meant|light lit|ride rode ridden|hide hid hidden|shake shook shaken|forgive forgave forgiven
    bind bound|feed fed|flee fled|split|quit|let|hit|bear bore borne|swear swore sworn|sue sued sues|owe owed owes
    arise arose arisen|shrink shrank shrunk|bend bent|bury buried|slide slid|dig dug|win winning|stop stopped
    """.replace("\n", "|").split("|")
    if line.split()
    for lemma, *forms in (line.split(),)
    for form in (lemma, *forms)
}  # fmt: skip
_DOUBLED = re.compile(r"([bdgklmnprt])\1\Z")


@lru_cache(maxsize=16384)
def lemma(word: str) -> str:
    """The word without its ending, as far as simple rules can tell: fall for fell, refuse for refused, city for
    cities."""
    letters = POSSESSIVE.sub("", bare(word))
    if letters in IRREGULAR:
        return IRREGULAR[letters]
    for ending, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if letters.endswith(ending) and len(letters) > len(ending) + 1:
            return letters[: -len(ending)] + instead
    if letters.endswith("s") and len(letters) > 3 and not letters.endswith(("ss", "us", "is")):
        return letters[:-1]
    for ending in ("ed", "ing"):
        stem = letters[: -len(ending)]
        if letters.endswith(ending) and len(stem) > 2 and re.search("[aeiouy]", stem):
            if _DOUBLED.search(stem) and not stem.endswith(("ll", "ss")):
                return stem[:-1]
            return stem + "e" if _wants_e(stem) else stem
    return letters


def _wants_e(stem: str) -> bool:
    return bool(
        re.search(r"(?:[aiou][bcdgklmnprstvz]|ir|[cgsvz]|[aeiou]ut|bl|pl|dl|gl|tl|rs|ns)\Z", stem)
    ) and not re.search(r"(?:[aeiou]{2}[bdgklmnprt]|en|er|or|on|it|in|[^aeiou]om|al|ol|el|op|ss|ow|ew)\Z", stem)
