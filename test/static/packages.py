#!/usr/bin/env python3
"""The packages of the library, which of them may import which, and how large all of it is.

``./run python test/static/packages.py`` prints the figures.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = "imu_simulation_framework"
REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARY = REPOSITORY / "src" / PACKAGE
BELOW = {
    "core": set(),
    "report": set(),
    "motion": set(),
    "sensors": {"motion"},
    "recordings": {"motion", "sensors"},
    "characterisation": {"sensors", "report"},
    "heading": {"motion", "sensors", "report"},
    "drive": {"motion", "sensors", "recordings", "heading", "report"},
    "realistic_imu": {"motion", "sensors", "recordings", "drive"},
    "flight": {"motion", "sensors", "recordings", "report"},
}
"""What a package may import besides ``core``, which all may import and which imports none."""
BELOW["commands"] = set(BELOW) - {"core"}
BELOW["ros1"] = {"drive", "flight", "realistic_imu", "recordings", "sensors"}
BELOW["ros2"] = {"drive", "realistic_imu", "recordings", "sensors"}
GENERATED = {"msg", "srv"}  # made by catkin, beside the library's own packages


def modules(library=LIBRARY) -> dict[str, ast.Module]:
    """Return all modules' syntax trees by dotted names below the package; imports are absolute."""
    found = {}
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(found[name]):
            if isinstance(node, ast.ImportFrom) and node.level:
                home = [PACKAGE, *parts[: -node.level], *filter(None, [node.module])]
                node.module, node.level = ".".join(home), 0
    return found


def imports(tree, names) -> set[str]:
    """Return the modules among ``names`` that a syntax tree imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            home = node.module[len(PACKAGE) + 1 :]
            for alias in node.names:
                inner = f"{home}.{alias.name}".strip(".")
                found.add(inner if inner in names else home)
    return found & set(names) - {""}


def others(tree) -> set[str]:
    """Return the first names of all other libraries that a syntax tree imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - {PACKAGE}


def at_import(tree):
    """Return what of a module is run when it is imported: functions and types alone are not."""

    def is_run(node):
        for_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        return not for_types and not isinstance(node, (ast.FunctionDef, ast.ClassDef))

    return ast.Module([*filter(is_run, tree.body)], [])


def arrows(found) -> set[tuple[str, str]]:
    """Return pairs of packages, the first of which imports the second; all may import core."""
    pairs = {
        (name.split(".")[0], other.split(".")[0])
        for name, tree in found.items()
        for other in imports(tree, found)
        if name
    }
    return {(one, other) for one, other in pairs if other not in (one, "core")}


def closure(name, found) -> set[str]:
    """Return all modules that are imported when one is."""
    seen, open_ones = set(), [name]
    while open_ones:
        one = open_ones.pop()
        if one not in seen:
            seen.add(one)
            open_ones += imports(at_import(found[one]), found)
    return seen


def main():
    """Print how many modules, lines and arrows there are, and what two programs import."""
    found = modules()
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in LIBRARY.rglob("*.py"))
    pairs = arrows(found)
    wrong = [pair for pair in pairs if pair[1] not in BELOW[pair[0]]]
    print(f"{sum(len(tree.body) > 1 for tree in found.values())} modules, {lines} lines")
    print(f"{len(pairs)} pairs of packages, {len(wrong)} of them not allowed")
    for name in ("commands.heading_budget", "commands.allan_analysis"):
        print(f"{name} imports {len(closure(name, found)) - 1} modules")


if __name__ == "__main__":
    main()
