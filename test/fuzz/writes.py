"""Where a process writes: what its Python code does to files elsewhere than it may."""

import os
import sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = (
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    *("os.symlink", "os.truncate", "os.utime"),
)
_DEVICES = ("/dev/null", "/dev/tty", "/proc/", "/dev/shm/")


def tell_writes(folders, path) -> None:
    """From now on write into a file, a line for each, what this process changes outside of folders.

    What libraries do that are not Python is not seen: their files have to be looked for.
    """
    allowed = tuple(f"{os.path.realpath(folder)}/" for folder in folders)
    told = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def see(event, arguments):
        if event == "open":
            names = arguments[:1] if (arguments[2] or 0) & _WRITING else ()
        elif event in _CHANGES:
            # Behind the paths, or the one, there are numbers.
            names = [name for name in arguments[:2] if isinstance(name, (str, bytes, os.PathLike))]
        else:
            return
        for name in names:
            # A file that is open already was seen when it was opened.
            if not isinstance(name, int):
                place = os.path.realpath(os.fsdecode(name))
                if not f"{place}/".startswith(allowed) and not place.startswith(_DEVICES):
                    os.write(told, ascii(place)[1:-1].encode() + b"\n")

    sys.addaudithook(see)
