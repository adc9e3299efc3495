"""How far searches go, in every store alike: so that they find the same."""

FAN_OUT = 50  # relations, mentions and links followed from one thing
NAMES = 16  # names of one entity that are followed
WIDE = 200  # entities from which the next hop goes on
MOST_RELATIONS = 300  # of a neighbourhood
FEW = 2000  # documents that pass a filter, up to which they are named one by one
MOST_AROUND = 100  # relations that are told of entities; a context has no room for more
