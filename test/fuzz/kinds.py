"""The kinds of trial: each takes random numbers and a folder, puts hostile inputs there and says
what is to be run on them.
"""

from kinds_of_recordings import at_rest, bags, flights, places, results, tables
from kinds_of_settings import arguments, configurations, corrections, parameters, robots

KINDS = {
    tables: 22,
    flights: 4,
    bags: 15,
    at_rest: 3,
    places: 7,
    parameters: 17,
    robots: 4,
    corrections: 4,
    configurations: 14,
    results: 4,
    arguments: 6,
}
"""Each kind and how many of a hundred trials are of it."""
