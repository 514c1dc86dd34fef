"""Trials of flights as they come by UDP, and of scripts for JSBSim."""

import json
import os
import struct
from dataclasses import replace
from pathlib import Path

from harm_settings import harmed_settings
from trials import Trial, put
from verdict import Expected

PERIOD = 0.02
_NAMES = (
    *("Time", "position/lat-geod-deg", "position/long-gc-deg", "position/geod-alt-ft"),
    *("velocities/v-north-fps", "velocities/v-east-fps", "velocities/v-down-fps"),
    *("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad"),
)
_LABELS = b"<LABELS> ," + ",".join(_NAMES).encode() + b"\n"
_OWN, _OTHER = range(2)  # senders; the first is the simulator


def _row(number) -> bytes:
    """A packet of text of an aircraft that flies north at 60 m/s."""
    latitude = 30.0 + number * PERIOD * 60.0 / 110_850.0
    cells = (number * PERIOD, latitude, -95.0, 1000.0, 196.85, 0.0, 0.0, 0.0, 0.0, 0.0)
    return ",".join(f"{cell:.15g}" for cell in cells).encode() + b"\n"


def _structure(number) -> bytes:
    """The same as FlightGear's structure."""
    latitude = 0.5 + number * PERIOD * 60.0 / 6.35e6
    floats = [0.0] * 11 + [196.85, 0.0, 0.0]
    packet = struct.pack(">II3d14f", 24, 0, -1.5, latitude, 300.0, *floats)
    count = struct.pack(">I", round(number * PERIOD * 1e6))
    return packet + bytes(356 - len(packet)) + count + bytes(48)


def udp(random, folder) -> Trial:
    """A flight by UDP, and what else comes at that port."""
    count, structure = random.choice((60, 200, 500)), random.random() < 0.4
    packets = _own(*((_structure if structure else _row)(number) for number in range(count)))
    if not structure:
        packets.insert(0, (_OWN, _LABELS))
    packets, for_ever, expected = random.choice(
        (_between, _between, _between, _without_flight, _garbage_around, _labels)
    )(random, packets, structure, count)
    sent = {
        name: [(sender, packet.hex()) for sender, packet in some]
        for name, some in (("packets", packets), ("for_ever", for_ever))
    }
    return Trial("udp", [put(folder, "packets.json", json.dumps(sent).encode())], expected)


def _own(*packets):
    return [(_OWN, packet) for packet in packets]


def _flown(states, *told) -> Expected:
    """How a trial ends whose flight has so many states."""
    return Expected((0,), told=(rf"^{states} states\nfrom ", *told))


_REFUSED = Expected((2,), ("UDP port",))


def _between(random, packets, structure, count):
    """What becomes of two packets at some places in the middle, none beside another."""
    many, change, lost, told = random.choice(_BETWEEN)
    many = random.choice(many)
    for place in sorted(random.sample(range(8, count - 8, 3), many), reverse=True):
        pair = slice(place, place + 2)
        packets[pair] = change(random, structure, *packets[pair])
    told = told.replace("MANY", f"{many}")
    return packets, [], _flown(count - lost * many, *([rf"\b{told}"] if told else []))


def _cut(random, structure, packet, following):
    """A packet of a wrong length."""
    content = packet[1]
    # Behind the last comma a number may be cut to another one.
    end = len(content) if structure else content.rindex(b",")
    longer = content + (content if structure else b",1\n")
    return [*_own(random.choice((content[: random.randrange(1, end)], longer))), following]


def _no_numbers(random, structure, packet, following):
    if structure:
        content = bytearray(packet[1])
        bad = random.choice((float("nan"), float("inf"), 1e30, -1e308))
        struct.pack_into(">d", content, random.choice((8, 16, 24)), bad)
        return [*_own(bytes(content)), following]
    cells = packet[1].split(b",")
    bad = (b"nan", b"inf", b"", b"x", b"1e400", b"1e308", b"\xff", b"\0", b"--1")
    cells[random.randrange(1, len(cells))] = random.choice(bad)
    return [*_own(b",".join(cells)), following]


_BETWEEN = (
    # How many there are, what becomes of them, states lost with each, and what is said.
    ((0,), lambda *_: [], 0, ""),
    ((10,), lambda random, _, *pair: [(_OTHER, _garbage(random)), *pair], 0, ""),
    (
        (1, 5),
        lambda random, _, *pair: [*_own(_garbage(random)), *pair],
        0,
        "MANY packets? left out",
    ),
    ((1, 3), _cut, 1, "MANY packets? left out"),
    ((1, 4), _no_numbers, 1, "MANY packets? left out"),
    ((5,), lambda random, _, one, two: [one, one, two], 0, "MANY packets came twice"),
    ((3,), lambda random, _, one, two: [two, one], 0, "MANY packets came late"),
    ((4,), lambda random, _, one, two: [two], 1, r"MANY packets of \d+ did not come"),
)


def _without_flight(random, packets, structure, count):
    """Garbage alone, also without end, or too few packets for a flight."""
    if random.random() < 0.4:
        return packets[: random.randrange(4)], [], _REFUSED
    for_ever = _own(_garbage(random)) * random.randrange(2)
    return _own(*(_garbage(random) for _ in range(100))), for_ever, _REFUSED


def _garbage_around(random, packets, structure, count):
    """Garbage of others before the flight; after it, it is no sign of life of the simulator."""
    first = [(_OTHER, _garbage(random))] * random.choice((0, 1, 50))
    after = [(random.choice((_OWN, _OTHER)), _garbage(random))] * random.randrange(2)
    return [*first, *packets], after, _flown(count)


def _labels(random, packets, structure, count):
    """Labels that are none, or are said once more as by a simulator that was started again."""
    packets = _own(*(_row(number) for number in range(count)))
    label = random.choice(_STRANGE_LABELS)
    if label is not None:
        packets.insert(0, (_OWN, label))
    if label != _LABELS:
        return packets, [], _REFUSED
    packets.insert(random.randrange(2, count), (_OWN, label))
    return packets, [], _flown(count)


_STRANGE_LABELS = (
    *(_LABELS, None, b"<LABELS> ,", b"<LABELS> ,Time\n", b"<LABELS> ," + b"x," * 10_000),
    *(b"<LABELS> ,Time,\x1b[31m\x07,a\nb\n", b"<LABELS> ,\xff\xfe\xff,attitude/phi-rad\n"),
    _LABELS.replace(b"position/lat-geod-deg", b"x"),
    _LABELS.replace(b"attitude/psi-rad", b"\x1b]0;x\x07"),
)


def _garbage(random) -> bytes:
    junk = bytes(random.randrange(256) for _ in range(random.randrange(1, 500)))
    return random.choice(
        (
            *(b"", b"\0", b"x", b"\x1b[2J\x1b]0;title\x07", b"\xff" * 408, bytes(408), b"1,2\n"),
            *(struct.pack(">I", 23) + bytes(404), b"\0" * 60_000, junk),
        )
    )


_SCRIPT = """\
<?xml version="1.0"?>
<runscript name="a drop">
 {top}
 <use aircraft="ball" initialize="start"/>
 <run start="0" end="9" dt="0.02">
  <event name="a"><condition>simulation/sim-time-sec ge 0.1</condition>{event}<notify/></event>
 </run>
 {bottom}
</runscript>
"""


def scripts(random, folder) -> Trial:
    """Scripts of JSBSim that want more than to fly, and damaged ones."""
    parts = dict.fromkeys(("top", "bottom", "event", "more"), "")
    for place in ("aircraft/ball", "engine"):
        (Path(folder) / place).mkdir(parents=True)
    expected = Expected((0, 2), ("drop.xml", "ball.xml"))
    choice = random.random()
    if choice < 0.4:
        parts[random.choice(("top", "bottom", "more"))] = _output(random, Path(folder))
        expected = Expected((0,), told=(r"^101 states\nfrom 0\.000 to 2\.000 s",))
    elif choice < 0.6:
        names, values = random.choice(_SET)
        parts["event"] = f'<set name="{random.choice(names)}" value="{random.choice(values)}"/>'
    elif choice < 0.7:
        parts["more"] = '<system file="wish"/>'
    files = {
        "drop.xml": _SCRIPT.format_map(parts),
        "aircraft/ball/ball.xml": _BALL.format(parts["more"]),
        "aircraft/ball/start.xml": _START,
        "aircraft/ball/wish.xml": _WISH,
    }
    files = {name: text.encode() for name, text in files.items()}
    if choice >= 0.7:
        name = random.choice(("drop.xml", "drop.xml", "aircraft/ball/ball.xml"))
        files[name] = harmed_settings(random, files[name].decode())
    for name, content in files.items():
        put(folder, name, content)
    # The ports are written into them.
    expected = replace(expected, changed=("drop.xml", "aircraft"))
    return Trial("script", ["drop.xml"], expected)


def _output(random, folder):
    """Output to a file, a FIFO, a device or a socket, or input from one."""
    names = ("made.csv", "there.csv", "../../away.csv", "/dev/full", "out/a.csv", "fifo")
    wanted = random.choice(
        (
            *[f'name="{random.choice(names)}" type="{kind}"' for kind in ("CSV", "CSV", "TABULAR")],
            'name="127.0.0.1" type="SOCKET" protocol="TCP" port="TCP_PORT"',
            'name="127.0.0.1" type="SOCKET" protocol="UDP" port="UDP_PORT"',
            'name="127.0.0.1" type="FLIGHTGEAR" protocol="UDP" port="UDP_PORT"',
        )
    )
    put(folder, "there.csv", b"one\n")
    os.mkfifo(folder / "fifo")
    text = f'<output {wanted} rate="10"><simulation> ON </simulation>'
    text += "<property>simulation/sim-time-sec</property></output>"
    kind = random.choice(("SOCKET", "QTJSBSIM"))
    listening = f'<input type="{kind}" port="FREE_PORT" rate="50"/>'
    return random.choice((text, text, f"<!-- > -->{text}<!-- </output> -->", listening))


_SET = (
    # Properties that make JSBSim write a file or begin again, or the aircraft impossible.
    (("simulation/write-state-file", "simulation/force-output", "simulation/reset"), "12"),
    (
        ("position/h-agl-ft", "inertia/mass-slugs", "velocities/u-fps", "simulation/dt"),
        ("nan", "1e308", "-1e300", "0", "inf"),
    ),
)
"""Names of properties, and values."""

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
<initialize name="start"><latitude unit="DEG">30</latitude>
 <longitude unit="DEG">-95</longitude><altitude unit="FT">9000</altitude>
 <ubody unit="FT/SEC">100</ubody></initialize>
"""
_WISH = """<?xml version="1.0"?>
<system name="wish"><output name="made.csv" type="CSV" rate="10"><simulation> ON </simulation>
 </output><channel name="c"><summer name="s"><input>simulation/sim-time-sec</input></summer>
</channel></system>
"""
"""A system beside the aircraft that wants output."""
