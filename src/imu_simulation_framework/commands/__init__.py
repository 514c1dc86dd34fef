"""The programs, a module for each; ``parsers`` has their command lines."""

from ..core.programs import use_one_thread

use_one_thread()
