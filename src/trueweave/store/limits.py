"""Search limits that all stores share, so that they return the same results."""

FAN_OUT = 50  # relations, mentions and links followed from one entity or name
NAMES = 16  # names followed per entity
WIDE = 200  # entities expanded at each hop
MOST_RELATIONS = 300  # relations in a neighbourhood
FEW = 2000  # a filter that at most this many documents pass is applied as a list of ids
MOST_AROUND = 100  # relations returned for a set of entities; more would not fit into a context
