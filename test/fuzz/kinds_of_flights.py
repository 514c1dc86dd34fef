"""Trials of flights as they come by UDP, and of scripts for JSBSim."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace
from pathlib import Path

from trials import Trial, put
from verdict import Expected

PERIOD = 0.02
_NAMES = (
    *("Time", "position/lat-geod-deg", "position/long-gc-deg", "position/geod-alt-ft"),
    *("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps"),
    *("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad"),
)
_LABELS = b"<LABELS> ," + ",".join(_NAMES).encode() + b"\n"
_OWN, _OTHER, _THIRD = range(3)
"""Senders; the first is the simulator."""


def _row(number, period=PERIOD, start=0.0) -> bytes:
    """A packet of text of an aircraft that flies north at 60 m/s."""
    latitude = 30.0 + number * period * 60.0 / 110_850.0
    cells = (start + number * period, latitude, -95.0, 1000.0, 196.85, 0.0, 0.0, 0.0, 0.0, 0.0)
    return ",".join(f"{cell:.15g}" for cell in cells).encode() + b"\n"


def _structure(number, microseconds=None) -> bytes:
    """The same as FlightGear's structure."""
    latitude = 0.5 + number * PERIOD * 60.0 / 6.35e6
    floats = [0.0] * 11 + [196.85, 0.0, 0.0]
    packet = struct.pack(">II3d14f", 24, 0, -1.5, latitude, 300.0, *floats)
    count = round(number * PERIOD * 1e6) if microseconds is None else microseconds
    return packet + bytes(356 - len(packet)) + struct.pack(">I", count % 2**32) + bytes(48)


def udp(random, folder) -> Trial:
    """A flight by UDP, and what else comes at that port."""
    count = random.choice((60, 200, 500))
    structure = random.random() < 0.4
    if structure:
        packets = [_structure(number) for number in range(count)]
    else:
        packets = [_LABELS, *(_row(number) for number in range(count))]
    sent = {"packets": [(_OWN, packet) for packet in packets], "for_ever": [], "settings": {}}
    expected = random.choice(_AT_THE_PORT)(random, sent, structure, count)
    sent["packets"] = [(sender, packet.hex()) for sender, packet in sent["packets"]]
    sent["for_ever"] = [(sender, packet.hex()) for sender, packet in sent["for_ever"]]
    name = put(folder, "packets.json", json.dumps(sent).encode())
    return Trial("udp", [name], expected)


def _flown(states, *told) -> Expected:
    """How a trial ends whose flight has so many states."""
    return Expected((0,), told=(rf"^{states} states\nfrom ", *told))


_REFUSED = Expected((2,), ("UDP port",))


def _places(random, count, many):
    """Places in the middle of a flight, none beside another."""
    return sorted(random.sample(range(8, count - 8, 3), many))


def _only_the_flight(random, sent, structure, count):
    return _flown(count)


def _stranger_first(random, sent, structure, count):
    sent["packets"][:0] = [(_OTHER, _garbage(random))] * random.choice((1, 1, 50))
    return _flown(count)


def _strangers_flight(random, sent, structure, count):
    """Another simulator sends a flight of its own in between; one of them is the flight."""
    place = random.randrange(3, len(sent["packets"]) - 3)
    other = _structure(1) if structure else _row(1)
    sent["packets"][place:place] = [(_OTHER, other)] * 20
    return _flown(count, r"\b20 packets of other senders")


def _strangers_between(random, sent, structure, count):
    for place in reversed(_places(random, count, 10)):
        sent["packets"].insert(place, (random.choice((_OTHER, _THIRD)), _garbage(random)))
    return _flown(count)


def _ahead(random, sent, structure, count):
    """A packet of a time far ahead, which is no state of this flight."""
    shift = random.choice((2.0, 2.0, 10.0, 1000.0))
    (place,) = _places(random, count, 1)
    moved = _structure(place, round(1e6 * (place * PERIOD + shift)))
    moved = moved if structure else _row(place, start=shift)
    sent["packets"].insert(place, (_OWN, moved))
    return _flown(count, rf"to {(count - 1) * PERIOD:.3f} s", r"\b1 packet .*left out")


def _wrapped(random, sent, structure, count):
    """The 32 bits of FlightGear's microseconds are full after 4295 s."""
    begin = 2**32 - random.randrange(10, count - 10) * 20_000 - 7
    packets = [_structure(number, begin + number * 20_000) for number in range(count)]
    sent["packets"] = [(_OWN, packet) for packet in packets]
    return _flown(count)


def _garbage_only(random, sent, structure, count):
    sent["packets"] = [(_OWN, _garbage(random)) for _ in range(100)]
    if random.random() < 0.5:
        sent["for_ever"] = [(_OWN, _garbage(random))]
    return _REFUSED


def _garbage_after(random, sent, structure, count):
    """Garbage is no sign of life of the simulator."""
    sent["for_ever"] = [(random.choice((_OWN, _OTHER)), _garbage(random))]
    return _flown(count)


def _garbage_between(random, sent, structure, count):
    places = _places(random, count, random.choice((1, 5)))
    for place in reversed(places):
        sent["packets"].insert(place, (_OWN, _garbage(random)))
    return _flown(count, rf"\b{len(places)} packets? left out")


def _cut(random, sent, structure, count):
    """Packets of a wrong length."""
    places = _places(random, count, random.choice((1, 3)))
    for place in places:
        sender, packet = sent["packets"][place]
        # Behind the last comma a number may be cut to another one.
        end = random.randrange(1, len(packet) if structure else packet.rindex(b","))
        changed = random.choice((packet[:end], packet + (packet if structure else b",1\n")))
        sent["packets"][place] = (sender, changed)
    return _flown(count - len(places), rf"\b{len(places)} packets? left out")


def _no_numbers(random, sent, structure, count):
    places = _places(random, count, random.choice((1, 4)))
    for place in places:
        if structure:
            packet = bytearray(sent["packets"][place][1])
            bad = random.choice((float("nan"), float("inf"), 1e30, -1e308))
            struct.pack_into(">d", packet, random.choice((8, 16, 24)), bad)
        else:
            cells = sent["packets"][place][1].split(b",")
            bad = random.choice(
                (b"nan", b"inf", b"", b"x", b"1e400", b"1e308", b"\xff", b"\0", b"--1")
            )
            cells[random.randrange(1, len(cells))] = bad
            packet = b",".join(cells)
        sent["packets"][place] = (_OWN, bytes(packet))
    return _flown(count - len(places), rf"\b{len(places)} packets? left out")


def _twice(random, sent, structure, count):
    places = _places(random, count, 5)
    for place in reversed(places):
        sent["packets"].insert(place, sent["packets"][place])
    return _flown(count, r"\b5 packets came twice")


def _late(random, sent, structure, count):
    places = _places(random, count, 3)
    for place in places:
        packets = sent["packets"]
        packets[place], packets[place + 1] = packets[place + 1], packets[place]
    return _flown(count, r"\b3 packets came late")


def _lost(random, sent, structure, count):
    for place in reversed(_places(random, count, 4)):
        del sent["packets"][place]
    return _flown(count - 4, r"\b4 packets of \d+ did not come")


def _begun_again(random, sent, structure, count):
    first = 0 if structure else 1
    sent["packets"] += sent["packets"][first : first + 10]
    return _flown(count, "began again")


def _too_few(random, sent, structure, count):
    sent["packets"] = sent["packets"][: random.randrange(4)]
    return _REFUSED


def _one_time(random, sent, structure, count):
    first = 0 if structure else 1
    sent["packets"][first:] = [sent["packets"][first]] * count
    return _REFUSED


def _strange_labels(random, sent, structure, count):
    label = random.choice(
        (
            b"<LABELS> ,",
            b"<LABELS> ,Time\n",
            b"<LABELS> ," + b"x," * 10_000,
            b"<LABELS> ,Time,\x1b[31m\x07,a\nb\n",
            b"<LABELS> ,\xff\xfe\xff,attitude/phi-rad\n",
            _LABELS.replace(b"position/lat-geod-deg", b"x"),
            _LABELS.replace(b"attitude/psi-rad", b"\x1b]0;x\x07"),
        )
    )
    sent["packets"] = [(_OWN, label), *((_OWN, _row(number)) for number in range(count))]
    return _REFUSED


def _labels_again(random, sent, structure, count):
    """A simulator that says its labels once more, as it was started again."""
    place = random.randrange(2, count)
    sent["packets"] = [(_OWN, _LABELS), *((_OWN, _row(number)) for number in range(count))]
    sent["packets"].insert(place, (_OWN, _LABELS))
    return _flown(count)


def _no_labels(random, sent, structure, count):
    sent["packets"] = [(_OWN, _row(number)) for number in range(count)]
    return _REFUSED


def _no_time(random, sent, structure, count):
    packets = [_structure(number, 1234567890) for number in range(count)]
    sent["packets"] = [(_OWN, packet) for packet in packets]
    if random.random() < 0.5:
        return _REFUSED
    sent["settings"] = {"rate": 1.0 / PERIOD}
    return _flown(count)


def _both_kinds(random, sent, structure, count):
    place = random.randrange(10, count)
    other = [_LABELS, _row(0), _row(1)] if structure else [_structure(3)] * 3
    sent["packets"][place:place] = [(_OWN, packet) for packet in other]
    return _flown(count)


def _for_so_long(random, sent, structure, count):
    sent["settings"] = {"duration": 1.0}
    return _flown(51)


def _garbage(random) -> bytes:
    return random.choice(
        (
            b"",
            b"\0",
            b"x",
            b"\x1b[2J\x1b]0;title\x07",
            b"\xff" * 408,
            bytes(408),
            struct.pack(">I", 23) + bytes(404),
            b"\0" * 60_000,
            b"1,2\n",
            bytes(random.randrange(256) for _ in range(random.randrange(1, 500))),
        )
    )


_AT_THE_PORT = (
    *(_only_the_flight, _stranger_first, _stranger_first, _strangers_flight, _strangers_between),
    *(_ahead, _ahead, _wrapped, _wrapped, _garbage_only, _garbage_after, _garbage_between, _cut),
    *(_no_numbers, _twice, _late, _lost, _begun_again, _too_few, _one_time, _strange_labels),
    *(_labels_again, _no_labels, _no_time, _both_kinds, _for_so_long),
)

_SCRIPT = """\
<?xml version="1.0"?>
<runscript name="a drop">
 {top}
 <use aircraft="{aircraft}" initialize="{start}"/>
 <run start="0" end="{end}" dt="0.02">
  <event name="{name}"><condition>simulation/sim-time-sec ge 0.1</condition>{event}<notify/></event>
 </run>
 {bottom}
</runscript>
"""


def scripts(random, folder) -> Trial:
    """Scripts of JSBSim that want more than to fly."""
    parts = {"top": "", "bottom": "", "event": "", "aircraft": "ball", "start": "start", "end": "9"}
    parts["name"] = "a"
    parts["text"] = ""
    (Path(folder) / "aircraft" / "ball").mkdir(parents=True)
    (Path(folder) / "engine").mkdir()
    expected = random.choice(_WISHES)(random, Path(folder), parts)
    put(folder, "aircraft/ball/ball.xml", _BALL.format(parts.get("more", "")).encode())
    start = _START.format(latitude=parts.get("latitude", "30"))
    put(folder, "aircraft/ball/start.xml", start.encode())
    text = parts.pop("text") or _SCRIPT.format_map(parts)
    # The ports are written into them.
    expected = replace(expected, changed=("drop.xml", "wanted.xml", "aircraft"))
    return Trial("script", [put(folder, "drop.xml", text.encode())], expected)


_BALL = """\
<?xml version="1.0"?>
<fdm_config name="BALL" version="2.0" release="ALPHA">
 <fileheader/>
 <metrics><wingarea unit="FT2">1</wingarea><wingspan unit="FT">1</wingspan>
  <chord unit="FT">1</chord><htailarea unit="FT2">0</htailarea><htailarm unit="FT">0</htailarm>
  <vtailarea unit="FT2">0</vtailarea><vtailarm unit="FT">0</vtailarm>
  <location name="AERORP" unit="IN"><x>0</x><y>0</y><z>0</z></location></metrics>
 <mass_balance><ixx unit="SLUG*FT2">10</ixx><iyy unit="SLUG*FT2">10</iyy>
  <izz unit="SLUG*FT2">10</izz><emptywt unit="LBS">50</emptywt>
  <location name="CG" unit="IN"><x>0</x><y>0</y><z>0</z></location></mass_balance>
 <ground_reactions/><propulsion/>{}<aerodynamics/>
</fdm_config>
"""
_START = """\
<?xml version="1.0"?>
<initialize name="start"><latitude unit="DEG">{latitude}</latitude>
 <longitude unit="DEG">-95</longitude><altitude unit="FT">9000</altitude>
 <ubody unit="FT/SEC">100</ubody></initialize>
"""
_DROPPED = Expected((0,), told=(r"^101 states\nfrom 0\.000 to 2\.000 s",))
_NO_SCRIPT = Expected((2,), ("drop.xml",))


def _only_flies(random, folder, parts):
    return _DROPPED


def _output(random, folder, parts):
    """Output to a file, a FIFO, a device, a socket, of script, aircraft or a file of its own."""
    kind = random.choice(("CSV", "CSV", "TABULAR", "SOCKET", "SOCKET", "UDP", "FLIGHTGEAR", "FIFO"))
    more = ""
    name = random.choice(("made.csv", "there.csv", "../../away.csv", "/dev/full", "out/a.csv"))
    put(folder, "there.csv", b"one\n")
    if kind == "FIFO":
        os.mkfifo(folder / "fifo")
        kind, name = "CSV", "fifo"
    elif kind not in ("CSV", "TABULAR"):
        port, protocol = ("TCP_PORT", "TCP") if kind == "SOCKET" else ("UDP_PORT", "UDP")
        kind = "FLIGHTGEAR" if kind == "FLIGHTGEAR" else "SOCKET"
        name, more = "127.0.0.1", f'protocol="{protocol}" port="{port}"'
    text = f'<output name="{name}" type="{kind}" {more} rate="10"><simulation> ON </simulation>'
    text += "<property>simulation/sim-time-sec</property></output>"
    where, more_files = random.choice(("top", "bottom", "more", "file", "commented")), False
    if where == "file":
        put(folder, "wanted.xml", f'<?xml version="1.0"?>\n{text}'.encode())
        text, where, more_files = '<output file="wanted.xml"/>', "bottom", True
    elif where == "commented":
        text, where = f"<!-- > -->{text}<!-- </output> -->", "bottom"
    parts[where] = text
    return (
        Expected((0, 2), ("drop.xml", "ball.xml"), told=_DROPPED.told) if more_files else _DROPPED
    )


def _input(random, folder, parts):
    """A socket at which a script waits for orders."""
    text = f'<input type="{random.choice(("SOCKET", "QTJSBSIM"))}" port="FREE_PORT" rate="50"/>'
    parts[random.choice(("bottom", "more"))] = text
    # What is left out is none of the flight's; what is refused is refused by name.
    return Expected((0, 2), ("drop.xml", "ball.xml"), told=_DROPPED.told)


def _system_file(random, folder, parts):
    """A system beside the aircraft that wants output."""
    put(folder, "aircraft/ball/wish.xml", b'<?xml version="1.0"?>\n<system name="wish">\n'
        b'<output name="made.csv" type="CSV" rate="10"><simulation> ON </simulation></output>\n'
        b'<channel name="c"><summer name="s"><input>simulation/sim-time-sec</input></summer>'
        b"</channel></system>\n")  # fmt: skip
    parts["more"] = '<system file="wish"/>'
    return Expected((0, 2), ("drop.xml",), told=_DROPPED.told)


def _nested(random, folder, parts):
    """XML that is nested too deeply for whoever reads it by calling itself."""
    deep = random.choice((3000, 200_000, 200_000))
    text = "<a>" * deep + "</a>" * random.choice((deep, 0))
    where = random.choice(("top", "more", "text"))
    if where == "text":
        parts["text"] = text
    else:
        parts[where] = text
    return Expected((0, 2) if deep < 200_000 else (2,), ("drop.xml", "ball.xml"))


def _missing(random, folder, parts):
    what = random.choice(("aircraft", "start", "folder"))
    if what == "folder":
        (folder / "aircraft" / "ball").rename(folder / "aircraft" / "cube")
        (folder / "aircraft" / "ball").mkdir()
        parts["aircraft"] = "cube"
    else:
        parts[what] = random.choice(("nowhere", "../nowhere", "a" * 300, "", "\u202e"))
    return _NO_SCRIPT


def _laughs(count):
    entities = "".join(
        f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha"}">' for k in range(count)
    )
    return f"<!DOCTYPE a [{entities}]><runscript name='a'>&a2;</runscript>"


def _set(names, values):
    """Events that set properties."""
    return [f'<set name="{name}" value="{value}"/>' for name in names for value in values]


_MAYBE = Expected((0, 2), ("drop.xml",))
_PARTS = (
    # A property that makes JSBSim write a file into the aircraft's folder.
    (
        "event",
        _set([f"simulation/{n}" for n in ("write-state-file", "force-output")], "12"),
        _MAYBE,
    ),
    ("event", _set(["simulation/reset"], "12"), _MAYBE),
    (
        "event",
        _set(["simulation/terminate"], "1"),
        Expected((0,), told=("the flight ends at 0.1",)),
    ),
    # The aircraft becomes impossible while it flies.
    (
        "event",
        _set(
            ("position/h-agl-ft", "inertia/mass-slugs", "velocities/u-fps", "simulation/dt"),
            ("nan", "1e308", "-1e300", "0", "inf"),
        ),
        _MAYBE,
    ),
    # Far longer than any, or obeyed by a terminal.
    ("name", ("n" * 100_000, "&#10;a&#9;b", "a&#x202e;b", "$\\frac{", "é☃"), _DROPPED),
    ("latitude", ("nan", "inf", "1e400", "x", "", "1e308", "-1e300"), _NO_SCRIPT),
    ("end", ("0", "-1", "nan", "x", ""), _NO_SCRIPT),
    (
        "text",
        (
            *("<", "\0", " ", "<a/>", "x" * 100_000, "<runscript/>", _SCRIPT[:200]),
            "<runscript><use/></runscript>",
            '<!DOCTYPE a [<!ENTITY b "c">]><runscript name="&b;"/>',
            '<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><runscript name="a">&b;</runscript>',
            "<?xml version='1.0' encoding='nonsense'?><runscript/>",
        ),
        _NO_SCRIPT,
    ),
    ("text", (_laughs(3), _laughs(9)), _NO_SCRIPT),
)
"""A part of a script, what stands there, and how that is to end."""


def _one_part(random, folder, parts):
    name, values, expected = random.choice(_PARTS)
    parts[name] = random.choice(values)
    return expected


_WISHES = (
    *(_only_flies, _output, _output, _output, _output, _input, _system_file, _nested, _nested),
    *([_one_part] * 9),
    _missing,
)
