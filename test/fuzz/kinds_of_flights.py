"""Trials of flights as they come by UDP, and of scripts for JSBSim."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

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
    count, structure = random.choice((60, 200, 500)), random.random() < 0.4
    packets = _own(*((_structure if structure else _row)(number) for number in range(count)))
    if not structure:
        packets.insert(0, (_OWN, _LABELS))
    flight = SimpleNamespace(
        structure=structure, count=count, packets=packets, for_ever=[], settings={}
    )
    expected = random.choice((_between, _other_flight, _other_flight))(random, flight)
    sent = {"settings": flight.settings}
    for name in ("packets", "for_ever"):
        sent[name] = [(sender, packet.hex()) for sender, packet in getattr(flight, name)]
    return Trial("udp", [put(folder, "packets.json", json.dumps(sent).encode())], expected)


def _own(*packets):
    return [(_OWN, packet) for packet in packets]


def _flown(states, *told) -> Expected:
    """How a trial ends whose flight has so many states."""
    return Expected((0,), told=(rf"^{states} states\nfrom ", *told))


_REFUSED = Expected((2,), ("UDP port",))


def _between(random, flight):
    """What becomes of two packets at some places in the middle, none beside another."""
    many, change, lost, told = random.choice(_BETWEEN)
    many = random.choice(many)
    for place in sorted(random.sample(range(8, flight.count - 8, 3), many), reverse=True):
        pair = slice(place, place + 2)
        flight.packets[pair] = change(random, flight, *flight.packets[pair])
    told = told.replace("MANY", f"{many}")
    return _flown(flight.count - lost * many, *([rf"\b{told}"] if told else []))


def _cut(random, flight, packet, following):
    """A packet of a wrong length."""
    content = packet[1]
    # Behind the last comma a number may be cut to another one.
    end = len(content) if flight.structure else content.rindex(b",")
    longer = content + (content if flight.structure else b",1\n")
    return [(_OWN, random.choice((content[: random.randrange(1, end)], longer))), following]


def _no_numbers(random, flight, packet, following):
    if flight.structure:
        content = bytearray(packet[1])
        bad = random.choice((float("nan"), float("inf"), 1e30, -1e308))
        struct.pack_into(">d", content, random.choice((8, 16, 24)), bad)
        return [(_OWN, bytes(content)), following]
    cells = packet[1].split(b",")
    bad = (b"nan", b"inf", b"", b"x", b"1e400", b"1e308", b"\xff", b"\0", b"--1")
    cells[random.randrange(1, len(cells))] = random.choice(bad)
    return [(_OWN, b",".join(cells)), following]


def _stranger(random, flight, *pair):
    return [(random.choice((_OTHER, _THIRD)), _garbage(random)), *pair]


def _garbage_first(random, flight, *pair):
    return [*_own(_garbage(random)), *pair]


_BETWEEN = (
    # How many there are, what becomes of them, states lost with each, and what is said.
    ((0,), lambda *_: [], 0, ""),
    ((10,), _stranger, 0, ""),
    ((1, 5), _garbage_first, 0, "MANY packets? left out"),
    ((1, 3), _cut, 1, "MANY packets? left out"),
    ((1, 4), _no_numbers, 1, "MANY packets? left out"),
    ((5,), lambda random, flight, one, two: [one, one, two], 0, "MANY packets came twice"),
    ((3,), lambda random, flight, one, two: [two, one], 0, "MANY packets came late"),
    ((4,), lambda random, flight, one, two: [two], 1, r"MANY packets of \d+ did not come"),
)


def _other_flight(random, flight):
    return random.choice(_OTHER_FLIGHTS)(random, flight, flight.packets, flight.count)


def _stranger_first(random, flight, packets, count):
    packets[:0] = [(_OTHER, _garbage(random))] * random.choice((1, 1, 50))
    return _flown(count)


def _strangers_flight(random, flight, packets, count):
    """Another simulator sends a flight of its own in between; one of them is the flight."""
    place = random.randrange(3, len(packets) - 3)
    other = _structure(1) if flight.structure else _row(1)
    packets[place:place] = [(_OTHER, other)] * 20
    return _flown(count, r"\b20 packets of other senders")


def _ahead(random, flight, packets, count):
    """A packet of a time far ahead, which is no state of this flight."""
    shift, place = random.choice((2.0, 2.0, 10.0, 1000.0)), random.randrange(8, count - 8)
    moved = _structure(place, round(1e6 * (place * PERIOD + shift)))
    packets.insert(place, (_OWN, moved if flight.structure else _row(place, start=shift)))
    return _flown(count, rf"to {(count - 1) * PERIOD:.3f} s", r"\b1 packet .*left out")


def _wrapped(random, flight, packets, count):
    """The 32 bits of FlightGear's microseconds are full after 4295 s."""
    begin = 2**32 - random.randrange(10, count - 10) * 20_000 - 7
    flight.packets = _own(*(_structure(number, begin + number * 20_000) for number in range(count)))
    return _flown(count)


def _garbage_only(random, flight, packets, count):
    flight.packets = _own(*(_garbage(random) for _ in range(100)))
    flight.for_ever = _own(_garbage(random)) * random.randrange(2)
    return _REFUSED


def _garbage_after(random, flight, packets, count):
    """Garbage is no sign of life of the simulator."""
    flight.for_ever = [(random.choice((_OWN, _OTHER)), _garbage(random))]
    return _flown(count)


def _begun_again(random, flight, packets, count):
    packets += packets[-count:][:10]
    return _flown(count, "began again")


def _too_few(random, flight, packets, count):
    del packets[random.randrange(4) :]
    return _REFUSED


def _one_time(random, flight, packets, count):
    flight.packets = packets[:-count] + packets[-1:] * count
    return _REFUSED


def _labels(random, flight, packets, count):
    """Labels that are none, or are said once more as by a simulator that was started again."""
    flight.packets = _own(*(_row(number) for number in range(count)))
    label = random.choice(_STRANGE_LABELS)
    if label is not None:
        flight.packets.insert(0, (_OWN, label))
    if label != _LABELS:
        return _REFUSED
    flight.packets.insert(random.randrange(2, count), (_OWN, label))
    return _flown(count)


_STRANGE_LABELS = (
    *(_LABELS, _LABELS, None, None, b"<LABELS> ,", b"<LABELS> ,Time\n"),
    b"<LABELS> ," + b"x," * 10_000,
    b"<LABELS> ,Time,\x1b[31m\x07,a\nb\n",
    b"<LABELS> ,\xff\xfe\xff,attitude/phi-rad\n",
    _LABELS.replace(b"position/lat-geod-deg", b"x"),
    _LABELS.replace(b"attitude/psi-rad", b"\x1b]0;x\x07"),
)


def _no_time(random, flight, packets, count):
    flight.packets = _own(*(_structure(number, 1234567890) for number in range(count)))
    flight.settings = random.choice(({}, {"rate": 1.0 / PERIOD}))
    return _flown(count) if flight.settings else _REFUSED


def _both_kinds(random, flight, packets, count):
    place = random.randrange(10, count)
    other = [_LABELS, _row(0), _row(1)] if flight.structure else [_structure(3)] * 3
    packets[place:place] = _own(*other)
    return _flown(count)


def _for_so_long(random, flight, packets, count):
    flight.settings = {"duration": 1.0}
    return _flown(51)


def _garbage(random) -> bytes:
    junk = bytes(random.randrange(256) for _ in range(random.randrange(1, 500)))
    return random.choice(
        (
            *(b"", b"\0", b"x", b"\x1b[2J\x1b]0;title\x07", b"\xff" * 408, bytes(408), b"1,2\n"),
            *(struct.pack(">I", 23) + bytes(404), b"\0" * 60_000, junk),
        )
    )


_OTHER_FLIGHTS = (
    *(_stranger_first, _stranger_first, _strangers_flight, _ahead, _ahead, _wrapped, _wrapped),
    *(_garbage_only, _garbage_after, _begun_again, _too_few, _one_time, _labels, _labels),
    *(_labels, _no_time, _both_kinds, _for_so_long),
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
    parts = {"aircraft": "ball", "start": "start", "end": "9", "name": "a", "latitude": "30"}
    parts.update(dict.fromkeys(("top", "bottom", "event", "more", "text"), ""))
    for place in ("aircraft/ball", "aircraft/cube", "engine"):
        (Path(folder) / place).mkdir(parents=True)
    if random.random() < 0.2:
        expected = _output(random, Path(folder), parts)
    else:
        part, values, expected = random.choice(_PARTS)
        parts[part] = random.choice(values)
    put(folder, "aircraft/ball/ball.xml", _BALL.format(parts["more"]).encode())
    put(folder, "aircraft/ball/start.xml", _START.format(latitude=parts["latitude"]).encode())
    put(folder, "aircraft/ball/wish.xml", _WISH)
    text = parts["text"] or _SCRIPT.format_map(parts)
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
_WISH = b"""<?xml version="1.0"?>
<system name="wish"><output name="made.csv" type="CSV" rate="10"><simulation> ON </simulation>
 </output><channel name="c"><summer name="s"><input>simulation/sim-time-sec</input></summer>
</channel></system>
"""
"""A system beside the aircraft that wants output."""

_FLOWN = (r"^101 states\nfrom 0\.000 to 2\.000 s",)
_DROPPED = Expected((0,), told=_FLOWN)
_MAYBE_DROPPED = Expected((0, 2), ("drop.xml", "ball.xml"), told=_FLOWN)
_NO_SCRIPT = Expected((2,), ("drop.xml",))
_MAYBE = Expected((0, 2), ("drop.xml",))


def _output(random, folder, parts):
    """Output to a file, a FIFO, a device, a socket, of script, aircraft or a file of its own."""
    names = ("made.csv", "there.csv", "../../away.csv", "/dev/full", "out/a.csv")
    wanted = random.choice(
        (
            *[f'name="{random.choice(names)}" type="{kind}"' for kind in ("CSV", "CSV", "TABULAR")],
            *['name="127.0.0.1" type="SOCKET" protocol="TCP" port="TCP_PORT"'] * 2,
            'name="127.0.0.1" type="SOCKET" protocol="UDP" port="UDP_PORT"',
            'name="127.0.0.1" type="FLIGHTGEAR" protocol="UDP" port="UDP_PORT"',
            'name="fifo" type="CSV"',
        )
    )
    put(folder, "there.csv", b"one\n")
    os.mkfifo(folder / "fifo")
    text = f'<output {wanted} rate="10"><simulation> ON </simulation>'
    text += "<property>simulation/sim-time-sec</property></output>"
    put(folder, "wanted.xml", f'<?xml version="1.0"?>\n{text}'.encode())
    place, text, expected = random.choice(
        (
            *((place, text, _DROPPED) for place in ("top", "bottom", "more")),
            ("bottom", f"<!-- > -->{text}<!-- </output> -->", _DROPPED),
            ("bottom", '<output file="wanted.xml"/>', _MAYBE_DROPPED),
        )
    )
    parts[place] = text
    return expected


def _laughs(count):
    entities = "".join(
        f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha"}">' for k in range(count)
    )
    return f"<!DOCTYPE a [{entities}]><runscript name='a'>&a2;</runscript>"


def _set(names, values):
    """Events that set properties."""
    return [f'<set name="{name}" value="{value}"/>' for name in names for value in values]


def _nested(deep):
    """XML that is nested too deeply for whoever reads it by calling itself."""
    return ["<a>" * deep + "</a>" * closed for closed in (deep, 0)]


# What is left out is none of the flight's; what is refused is refused by name.
_INPUTS = [f'<input type="{kind}" port="FREE_PORT" rate="50"/>' for kind in ("SOCKET", "QTJSBSIM")]
_NOWHERE = ("nowhere", "../nowhere", "a" * 300, "", "\u202e")
_PARTS = (
    ("end", "9", _DROPPED),
    # A property that makes JSBSim write a file into the aircraft's folder.
    ("event", _set(["simulation/write-state-file", "simulation/force-output"], "12"), _MAYBE),
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
    ("bottom", _INPUTS, _MAYBE_DROPPED),
    ("more", (*_INPUTS, '<system file="wish"/>', '<system file="wish"/>'), _MAYBE_DROPPED),
    *(
        (part, _nested(deep), Expected((0, 2)[deep > 3000 :], ("drop.xml", "ball.xml")))
        for part in ("top", "more", "text")
        for deep in (3000, 200_000)
    ),
    ("aircraft", (*_NOWHERE, "cube", "cube"), _NO_SCRIPT),
    ("start", _NOWHERE, _NO_SCRIPT),
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
            *(_laughs(3), _laughs(9)),
        ),
        _NO_SCRIPT,
    ),
)
"""A part of a script, what stands there, and how that is to end."""
