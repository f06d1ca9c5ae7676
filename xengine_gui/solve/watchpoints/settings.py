"""The numbers that steer a search, found by measuring; they decide how soon a thing is proved, never whether it is."""

LOOSEST_GAP = 0.01
"""The relative gap of the first MILPs; a quarter of it a round, since early rounds only show where to watch."""
FINAL_SHARE = 0.4
"""The MILP's own gap as a share of the one that is asked for: the rest is room for the decoded plan."""
SHARE_OF_GAP = 0.25
"""No MILP is looser than this share of the gap that is open."""
ROUNDING = 2e-8
"""Bounds are rounded down by less than this share of them, so cutoffs lie so much higher."""

FIRST_CANDIDATES = 24
"""Columns that are tried for the first branching of a tree: the one that matters most."""
CANDIDATES = 8
"""Columns that are tried for every other."""
IDLE_CANDIDATES = 6
"""So many tries in a row that are no better than the best end the trying."""
TRY_ITERATIONS = 150
"""Simplex iterations of a try; what is not finished then is solved to its end when its turn comes."""
HEAD_START_S = 0.05
"""Seconds that HiGHS has before our tree starts beside it: most small models it closes in less."""

FIRST_DIVE_NODE = 2
"""The node of a tree from which the first dive starts."""
DIVE_EVERY = 1.5
"""By how much the nodes between dives grow."""

NO_DUAL = 1e-9
"""A row with a dual below this costs nothing."""
LEAST_RISE = 0.02
"""A round of cuts is worthwhile when it closes this share of what is open."""
STALLED_ROUNDS = 2
"""So many rounds of cuts in a row that were not worthwhile end them."""

DIVE_COST = 1e-4
"""The second dive fixes only columns whose reduced cost is more than this share of the LP's bound."""
DIVE_S = 2.0
"""Seconds that one dive may take."""
DIVE_GAP = 0.3
"""The relative gap of a dive, as a share of the gap that is open."""

AROUND_S = 0.1
"""Seconds a round that the neighbourhood of the best plan is searched, `AROUND_SHARE` of the time so far besides."""
AROUND_SHARE = 0.2
LONG_AROUND_SHARE = 0.5
"""The share before a MILP, which the better a plan is, the sooner proves it."""

IDLE_NEIGHBOURHOODS = 8
"""So many neighbourhoods in a row that give nothing end the looking, for this time."""
LOST_HOPE = 0.9
"""What is left of that share after a neighbourhood that gave nothing."""
AROUND_GAP = 1e-4
"""The relative gap of those MILPs."""
FIRST_STRETCH = 0.15
"""The first stretch whose decisions are free together, as a share of the base order."""
LONG_STRETCH_S = 0.5
SHORT_STRETCH_S = 0.1
"""A stretch that took longer than the one is narrowed, one that took less than the other widened."""

REPAIR_S = 0.2
"""Seconds that a repair may take at any time, `REPAIR_SHARE` of the time so far besides."""
REPAIR_SHARE = 0.1

LEAST_PROGRESS = 0.95
"""A round that leaves more than this share of the gap as it was counts as idle."""
IDLE_ROUNDS = 3
"""After so many idle rounds, with the gap above `STUCK_GAP`, the whole MILP is solved though the dive found moments."""
STUCK_GAP = 0.01
MILP_S = 1.0
"""Seconds that this MILP may take at any time, `MILP_SHARE` of the time so far besides."""
MILP_SHARE = 0.5
MANY_POINTS = 12
"""From so many watch points on, with the gap above `STUCK_GAP`, those that cost nothing in the LP are dropped."""

BYTES_PER_COLUMN = 3_000
"""What a model takes for each column, rows included: measured 1.6 to 2.0 kB for the LP, 2.8 to 4.1 kB for the MILP."""
MOST_MODEL_BYTES = 2 * 2**30
"""Models above this are not built."""
