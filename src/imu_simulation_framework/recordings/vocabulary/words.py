"""Words in column names, from ``config/column_vocabulary.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Mapping

from ...core.files import package_share
from ...core.yaml_files import read_yaml

FILE = "column_vocabulary.yaml"
"""Name of the vocabulary file in ``config``."""

BODY_RATES = "p q r"
"""Stem of the body rates p, q, r in flight mechanics, which are recognised only together."""

_QUATERNION = "quaternion"


@dataclass(frozen=True)
class Vocabulary:
    """Words in column names, with their meanings.

    Attributes
    ----------
    names : mapping of str to tuple of str
        Words of a name, separated by spaces -> kind of quantity, axis, and the words that the
        columns of a vector have in common.
    quantity_units : mapping of str to list of str
        Kind of quantity -> possible units.
    units, short_units : mapping of str to str
        Spelling or abbreviation of a unit -> unit in the notation of column maps.
    unit_words : mapping of tuple of str to str
        Last words of a name -> unit in the notation of column maps.
    usual_units : mapping of str to tuple of str
        Words of a name -> unit by convention, which is used if values do not determine the unit,
        and the convention.
    imu_words, reference_words, origins : frozenset of str
        Words for the IMU, words for another source, and all words that only state an origin.
    not_measured, places : frozenset of str
        Words in names of tables without measurements, and of tables of positions.
    clocks : frozenset of str
        Words that occur in place of a unit but are not units.
    """

    names: Mapping[str, tuple[str, str, str]]
    quantity_units: Mapping[str, list[str]]
    units: Mapping[str, str]
    short_units: Mapping[str, str]
    unit_words: Mapping[tuple[str, ...], str]
    usual_units: Mapping[str, tuple[str, str]]
    imu_words: frozenset[str]
    reference_words: frozenset[str]
    origins: frozenset[str]
    not_measured: frozenset[str]
    places: frozenset[str]
    clocks: frozenset[str]
    _decorations: re.Pattern[str]
    _part: re.Pattern[str]

    def remove_decorations(self, name: str) -> str:
        """Remove prefixes and suffixes that loggers add to a column name.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        str
            Name in which the name of a sensor product is replaced by ``imu``.
        """
        return self._part.sub("imu", self._decorations.sub("", name))


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Read the vocabulary of column names from ``config``.

    Returns
    -------
    Vocabulary
        Words, units, and prefixes and suffixes.
    """
    content = read_yaml(package_share() / "config" / FILE, "the vocabulary of columns")
    units = {
        spelling: unit for unit, spellings in content["units"].items() for spelling in spellings
    }
    words = {
        tuple(text.split()): unit for unit, texts in content["unit_words"].items() for text in texts
    }
    words.update({(text,): unit for text, unit in units.items() if text.isalnum() and text != "1"})
    origins, tables = content["origins"], content["tables"]
    imu, reference, other = (frozenset(origins[key]) for key in ("imu", "reference", "other"))
    return Vocabulary(
        names=_names(content),
        quantity_units={name: entry["units"] for name, entry in content["quantities"].items()},
        units={**units, "": "1"},
        short_units=content["short_units"],
        unit_words=words,
        usual_units={
            words: (unit, convention)
            for convention, units_of in content["usual_units"].items()
            for words, unit in units_of.items()
        },
        imu_words=imu,
        reference_words=reference,
        origins=imu | reference | other,
        not_measured=frozenset(tables["not_measured"]),
        places=reference.union(tables["positions"]),
        clocks=frozenset(content["clocks"]),
        _decorations=re.compile("|".join(content["decorations"]), re.IGNORECASE),
        _part=re.compile(content["part"], re.IGNORECASE),
    )


def _names(content: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    definitions: dict[str, tuple[str, str, str]] = {}
    quantities = content["quantities"]
    for kind, entry in quantities.items():
        definitions.update({name: (kind, "", name) for name in entry.get("names", ())})
        for axis, names in entry.get("axes", {}).items():
            for name in names:
                shared = name[:-2] if name.endswith(f" {axis}") else "axes by name"
                definitions[name] = kind, axis, shared
    for kind, entry in quantities.items():
        parts = {axis: [axis] for axis in "xyz"}
        parts = content["quaternion_parts"] if kind == _QUATERNION else parts
        for axis, signs in parts.items():
            for stem in entry.get("vectors", ()):
                definitions.update({f"{stem} {sign}".strip(): (kind, axis, stem) for sign in signs})
            for stem in entry.get("prefixes", ()):
                if len(stem) > 2:
                    definitions[axis + stem] = kind, axis, stem
                joined = [axis, *(sign for sign in signs if sign.isdigit())]
                definitions.update({stem + sign: (kind, axis, stem) for sign in joined})
    definitions.update({sign: ("gyro", axis, BODY_RATES) for sign, axis in zip("pqr", "xyz")})
    for unit in quantities["time"]["units"]:
        definitions.update({name: ("time", "", name) for name in content["units"][unit]})
    return definitions
