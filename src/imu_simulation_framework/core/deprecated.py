"""Deprecated attribute names, which warn and return the renamed attribute."""

from __future__ import annotations

import warnings
from typing import Any, Callable, TypeVar

_Class = TypeVar("_Class", bound=type)


def deprecated_names(**new_names: str) -> Callable[[_Class], _Class]:
    """Return a class decorator that adds deprecated aliases of attributes and methods.

    Parameters
    ----------
    **new_names : str
        New name for each deprecated name.

    Returns
    -------
    callable
        Decorator; reading a deprecated name issues a DeprecationWarning.
    """

    def decorate(cls: _Class) -> _Class:
        for old, new in new_names.items():
            setattr(cls, old, _renamed(old, new))
        return cls

    return decorate


def _renamed(old: str, new: str) -> property:
    def read(instance: object) -> Any:
        message = f"{type(instance).__name__}.{old} is deprecated, use {new}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(instance, new)

    return property(read, doc=f"Deprecated name of ``{new}``.")
