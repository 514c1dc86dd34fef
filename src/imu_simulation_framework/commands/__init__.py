"""Programs, one per module; their command lines are defined in ``parsers``."""

from ..core.programs import use_one_thread

use_one_thread()
