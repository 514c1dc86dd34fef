"""Run the speed and memory benchmarks, save the measurements, and compare two runs.

Each benchmark alternates calls with reference calls and prints median, minimum and maximum of each
measurement. Ratios from different days can be compared, absolute times only between runs on the
same machine. A measurement has changed if the ranges of the two runs do not overlap.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil
from _timing import format_value

FOLDER = Path(__file__).resolve().parent
NAMES = sorted(path.stem.partition("_")[2] for path in FOLDER.glob("benchmark_*.py"))
LIBRARIES = ("numpy", "scipy", "mujoco")


def run_benchmark(name, repeats):
    """Run a benchmark and return its measurements."""
    print(f"--- {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "measurements.json"
        options = ["--repeats", str(repeats), "--save", str(file)]
        subprocess.run([sys.executable, FOLDER / f"benchmark_{name}.py", *options], check=True)
        return json.loads(file.read_text())


def describe_machine():
    """Return the properties of the machine and the versions of the libraries."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    clock = psutil.cpu_freq()
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "clock [MHz]": None if clock is None else round(clock.current),
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def compare(previous, run):
    """Print the measurements of two runs and the relative changes of the medians."""
    print(f"--- compared with the run of {previous['date']}, {previous['turns']} repetitions")
    before = {row["name"]: row for row in previous["measurements"]}
    for row in run["measurements"]:
        name = row["name"]
        if name not in before:
            print(f"{name:52} new")
            continue
        old, new = before[name]["values"], row["values"]
        change = 100.0 * (np.median(new) / np.median(old) - 1.0)
        verdict = ""
        if min(new) > max(old):
            verdict = "  higher"
        elif max(new) < min(old):
            verdict = "  lower"
        medians = f"{format_value(np.median(old)):>8} -> {format_value(np.median(new)):>6}"
        print(f"{name:52} {medians} {row['unit']:16} {change:+6.1f} %{verdict}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmark: {', '.join(NAMES)}")
    parser.add_argument("--repeats", type=int, default=5, help="number of repetitions")
    parser.add_argument("--save", type=Path, metavar="FILE", help="JSON file for the measurements")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="saved run to compare with")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}, expected {', '.join(NAMES)}")
    try:
        previous = json.loads(options.compare.read_text()) if options.compare else None
    except (OSError, ValueError) as error:
        parser.error(f"{options.compare}: cannot be read, expected a file of --save: {error}")
    run = {
        "date": date.today().isoformat(),
        "turns": options.repeats,
        "load at the start": os.getloadavg()[0],
        "machine": describe_machine(),
        "measurements": [],
    }
    for name in options.names or NAMES:
        run["measurements"] += run_benchmark(name, options.repeats)
    run["load at the end"] = os.getloadavg()[0]
    print(
        f"load {run['load at the start']:.1f} at the start, {run['load at the end']:.1f} at the end"
    )
    if options.save is not None:
        options.save.write_text(json.dumps(run, indent=1) + "\n")
    if previous is not None:
        compare(previous, run)


if __name__ == "__main__":
    main()
