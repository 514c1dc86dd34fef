"""Log of file changes outside allowed folders."""

import os
import sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = (
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    *("os.symlink", "os.truncate", "os.utime"),
)
_DEVICES = ("/dev/null", "/dev/tty", "/proc/", "/dev/shm/")


def record_writes(folders, log) -> None:
    """Log each path outside the folders that Python changes after this call.

    Changes by compiled libraries are not logged.

    Parameters
    ----------
    folders : iterable of path-like
        Folders in which changes are allowed.
    log : path-like
        Log file.
    """
    allowed = tuple(f"{os.path.realpath(folder)}/" for folder in folders)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def hook(event, arguments):
        if event == "open":
            names = arguments[:1] if (arguments[2] or 0) & _WRITING else ()
        elif event in _CHANGES:
            # The first one or two arguments are paths, and the others are numbers.
            names = [name for name in arguments[:2] if isinstance(name, (str, bytes, os.PathLike))]
        else:
            return
        for name in names:
            # The path of an open file was logged when it was opened.
            if not isinstance(name, int):
                place = os.path.realpath(os.fsdecode(name))
                if not f"{place}/".startswith(allowed) and not place.startswith(_DEVICES):
                    os.write(descriptor, ascii(place)[1:-1].encode() + b"\n")

    sys.addaudithook(hook)
