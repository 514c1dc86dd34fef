#!/usr/bin/env python3
"""The rooms of the library and what they import; draws them for CONTRIBUTING.md.

``./run python test/static/package_rooms.py`` prints the drawing, with ``--write`` it goes into the
file.
"""

import ast
import sys
from pathlib import Path

PACKAGE = "imu_simulation_framework"
REPOSITORY = Path(__file__).resolve().parents[2]
# The rooms of the library from the ground up: each may import those of the lines before its own,
# and none of its own line.
FLOORS = [
    {
        "angles",
        "checked_values",
        "columns",
        "constants",
        "declared_settings",
        "errors",
        "extras",
        "robot_names",
        "sentences",
        "topics",
        "units",
    },
    {"files", "magnetism", "motion", "noise"},
    {"results", "sensors", "tracking"},
    {"evaluation", "gimbal", "robot"},
    {"identification"},
    {"flight_simulator", "mujoco_simulator", "recorded"},
    {"configuration", "plots", "recordings"},
    {"imu_formats", "pages"},
    {"experiment"},
    {"tools"},
    {"msg", "ros", "srv"},
]
GENERATED = {"msg", "srv"}
"""Made by catkin, beside the library's own rooms."""
ARRAYS_ONLY = {
    "evaluation",
    "gimbal",
    "identification",
    "magnetism",
    "motion",
    "noise",
    "recorded",
    "sensors",
    "tracking",
}
"""Rooms that know no disk, no physics, no processes and no ROS."""
BEGIN, END = "<!-- rooms: begin -->\n", "<!-- rooms: end -->\n"


def library(repository):
    """Return the paths of all modules."""
    return (repository / "src" / PACKAGE).rglob("*.py")


def imports(path):
    """Return the dotted names of all modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # "from package import module" may name a module, too.
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def room_of(path, repository):
    """Return the room that a module is in, or is on the ground floor."""
    return path.relative_to(repository / "src" / PACKAGE).with_suffix("").parts[0]


def imported_rooms(path):
    """Return the rooms that a module imports from."""
    return {
        name.split(".")[1] for name in imports(path) if name.startswith(f"{PACKAGE}.")
    } & set().union(*FLOORS)


def arrows(repository):
    """Return room -> rooms that it imports from, without the ground floor, on which all stand."""
    found = {}
    for path in library(repository):
        room = room_of(path, repository)
        if room != "__init__" and room not in FLOORS[0]:
            others = imported_rooms(path) - FLOORS[0] - GENERATED - {room}
            found.setdefault(room, set()).update(others)
    return found


def drawing(repository=REPOSITORY):
    """Return the rooms as a Mermaid flowchart, an arrow from who imports to what is imported.

    An arrow is left out where a longer way leads to the same room.
    """
    direct = arrows(repository)

    def reached(room):
        return set().union(*({other} | reached(other) for other in direct[room]))

    lines = ["```mermaid", "flowchart TD"]
    lines += [f"    {room}" for room in _from_above(direct) if room not in ARRAYS_ONLY]
    lines.append('    subgraph arrays["arrays and tables only"]')
    lines += [f"        {room}" for room in _from_above(direct) if room in ARRAYS_ONLY]
    lines.append("    end")
    for room in _from_above(direct):
        others = direct[room]
        nearest = {
            other for other in others if not any(other in reached(way) for way in others - {other})
        }
        lines += [f"    {room} --> {other}" for other in _from_above(direct) if other in nearest]
    return "\n".join([*lines, "```"]) + "\n"


def _from_above(rooms):
    """Return rooms in the order of their floors, the highest first."""
    return [room for floor in reversed(FLOORS) for room in sorted(floor) if room in rooms]


def contributing(repository=REPOSITORY):
    """Return the path of the file with the drawing, and what is before, in and after its place."""
    path = repository / "CONTRIBUTING.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    drawn, _, after = rest.partition(END)
    return path, before, drawn, after


def main(arguments):
    """Print the drawing, or write it."""
    if arguments == ["--write"]:
        path, before, _, after = contributing()
        path.write_text(f"{before}{BEGIN}{drawing()}{END}{after}", encoding="utf-8")
    else:
        print(drawing(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
