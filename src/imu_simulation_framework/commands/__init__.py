"""The command lines, a module for each program."""

from ..core.programs import use_one_thread

use_one_thread()
