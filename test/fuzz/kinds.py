"""The kinds of trial: each takes random numbers and a folder, puts hostile inputs there and says
what is to be run on them.
"""

from kinds_of_bags import databases, folders, named_bags, quaternions, records
from kinds_of_flights import scripts, udp
from kinds_of_known import cut_bags, good, known_faults
from kinds_of_names import chunks, names
from kinds_of_recordings import at_rest, bags, flights, logs, places, results, tables
from kinds_of_settings import arguments, configurations, corrections, parameters, robots

KINDS = {
    tables: 15,
    flights: 3,
    bags: 8,
    logs: 6,
    at_rest: 2,
    places: 5,
    parameters: 12,
    robots: 4,
    corrections: 4,
    configurations: 11,
    results: 4,
    arguments: 5,
    good: 6,
    known_faults: 6,
    cut_bags: 1,
    udp: 2,
    scripts: 2,
    databases: 3,
    quaternions: 2,
    folders: 2,
    named_bags: 2,
    records: 1,
    names: 0.5,
    chunks: 0.5,
}
"""Each kind and how many of a hundred trials are of it."""
