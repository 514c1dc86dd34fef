"""Substitutes for the message and service types of packages that are not installed.

They have the fields that this package uses. Nodes can exchange them if all import this module.
"""

import genpy
from genpy.dynamic import generate_dynamic

SEPARATOR = "=" * 80


def message(name, fields, *parts):
    """Return a message type; ``fields`` is the text of a .msg file, ``parts`` its nested types."""
    text = [fields]
    for part in parts:
        text += [SEPARATOR, f"MSG: {part._type}", part._full_text]
    return generate_dynamic(name, "\n".join(text) + "\n")[name]


def service(name, request, answer, *parts):
    """Return a service type; ``request`` and ``answer`` are the two parts of a .srv file."""
    kinds = [
        message(
            f"{name}{side}", fields, *[part for part in parts if part._type.split("/")[1] in fields]
        )
        for side, fields in (("Request", request), ("Response", answer))
    ]
    return type(
        name.split("/")[1],
        (genpy.Message,),
        {
            "_type": name,
            "_md5sum": "".join(kind._md5sum for kind in kinds)[::2],
            "_request_class": kinds[0],
            "_response_class": kinds[1],
        },
    )
