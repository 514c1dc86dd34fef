"""Statement of the memory that a program needs for a large input."""

from __future__ import annotations

STATED_MEMORY = 500e6
"""Memory from which a program states how much it needs [bytes].

Small computers have 1 GB, of which the operating system and its services use about a half."""


def describe_memory(name: object, samples: float, memory: float) -> list[str]:
    """Describe the memory that a program needs.

    Parameters
    ----------
    name : object
        Name of the input, for example a path.
    samples : float
        Number of samples, which may be an estimate.
    memory : float
        Memory [bytes].

    Returns
    -------
    list of str
        Message for the user; empty below :data:`STATED_MEMORY`.
    """
    if memory < STATED_MEMORY:
        return []
    # Three digits suffice for an estimate.
    number = f"{int(float(f'{samples:.3g}')):,}".replace(",", " ")
    return [f"{name}: {number} samples, about {memory / 1e9:.1f} GB of memory needed"]
