"""Trials of bags that are whole as files, and hold what no recorder would write."""

import copy
import sqlite3
import struct
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import recording_writers as writers
import specimens
import yaml
from kinds_of_known import realistic, told_samples
from trials import Trial, put
from verdict import DONE, Expected

_STRANGE = (
    *("/imu\x1b[31m", "/imu\nsecond line: all is well", "/imu\x1b]0;title\x07", "/imu\u202eatad"),
    *("/imu\r", "/imu\x7f", "/imu\u2028x", "/imu\x9b31m", "/i\0mu", "", " ", "imu", "/" * 300),
    *("/é☃", "/$\\frac{", "/=1+1", "/'; DROP TABLE a; --"),
)


def databases(random, folder) -> Trial:
    """ROS 2 bags whose sqlite3 is right, but not what is in it."""
    specimen = specimens.recording("drive.db3")
    name = put(folder, specimen.name, specimen.content)
    topic, kind = random.choice((("/odom", "reference"), ("/imu", "imu")))
    with closing(sqlite3.connect(Path(folder) / name)) as database:
        ((topic,),) = database.execute("SELECT id FROM topics WHERE name = ?", (topic,))
        codes, gone = random.choice((_statements, _cells))(random, database, topic)
        database.commit()
    told = () if gone is None else (told_samples(specimen, kind, gone=gone),)
    if gone == specimens.samples(specimen, kind):
        codes, told = _REFUSED, ()
    return Trial("read", [name, kind], Expected(codes, (name,), told=told))


_REFUSED, _ANY, _READ = (2,), (0, 2), (0,)
_STATEMENTS = (
    (_READ, ("VACUUM",)),
    (_REFUSED, ("DROP TABLE messages", "DROP TABLE topics")),
    # A column that is computed whenever it is read.
    (
        _REFUSED,
        (
            "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, "
            "timestamp, data GENERATED ALWAYS AS (zeroblob(timestamp * 1000000)) VIRTUAL); INSERT "
            "INTO messages(topic_id, timestamp) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT "
            "n + 1 FROM c) SELECT {topic}, n FROM c LIMIT 500",
        ),
    ),
    (
        _REFUSED,
        [
            f"ALTER TABLE {column.replace('.', ' RENAME COLUMN ')} TO other"
            for column in ("messages.data", "messages.topic_id", "topics.name", "topics.type")
        ],
    ),
    (
        _ANY,
        [
            f"UPDATE topics SET type = '{kind}' WHERE id = {{topic}}"
            for kind in ("", "x", "a/b/c/d", "sensor_msgs/msg/Imu\x1b[2J", "std_msgs/msg/String")
        ],
    ),
    # Names and types that are no text.
    (
        _ANY,
        [
            "CREATE TABLE other AS SELECT * FROM topics; DROP TABLE topics; ALTER TABLE other "
            f"RENAME TO topics; UPDATE topics SET {column} = {value} WHERE id = {{topic}}"
            for column in ("name", "type", "id")
            for value in ("5", "1.5", "NULL", "x'ff00'", "zeroblob(100)", "'a' || char(0)")
        ],
    ),
)
"""Exit codes, and statements that lead to them."""


def _statements(random, database, topic):
    codes, statements = random.choice(_STATEMENTS)
    database.executescript(random.choice(statements).replace("{topic}", str(topic)))
    return codes, 0 if codes == _READ else None


_VALUES = {
    "data": ("'text'", "''", "NULL", "5", "1.5", "x''", "x'00'", "zeroblob(10)", "'\u2603'")
    + ("x'28b52ffd'", "randomblob(300)", "zeroblob(100000)", "cast(data AS TEXT)")
    + ("substr(data, 1, 50)", "data || x'00112233445566778899'", "x'00010000ffffffffffffffff'"),
    "timestamp": ("'text'", "''", "NULL", "x'00'", "1.5", "1e300", "-5", "9223372036854775807")
    + ("'2019-05-16'",),
    "topic_id": ("'text'", "NULL", "99", "1e300", "x'00'"),
}
"""What the messages' columns do not hold: values, and expressions of SQL."""


def _cells(random, database, topic):
    """Something else in some rows of a topic, in columns that hold anything."""
    column = random.choice(("data", "data", "timestamp", "topic_id"))
    value = random.choice(_VALUES[column])
    rows = [
        row for (row,) in database.execute("SELECT id FROM messages WHERE topic_id=?", (topic,))
    ]
    chosen = random.choice((rows, rows[:1], rows[-1:], random.sample(rows, 3)))
    database.executescript(
        "ALTER TABLE messages RENAME TO strict; "
        "CREATE TABLE messages(id, topic_id, timestamp, data); "
        "INSERT INTO messages SELECT id, topic_id, timestamp, data FROM strict; DROP TABLE strict"
    )
    database.executemany(
        f"UPDATE messages SET {column} = {value} WHERE id = ?", [(row,) for row in chosen]
    )
    if column == "topic_id":
        return _READ, len(chosen)
    # The header's stamps are what counts, as long as the others are numbers at all.
    return _ANY if column == "timestamp" and value[0] in "19-" else _REFUSED, None


def quaternions(random, folder) -> Trial:
    """Bags in which some orientations are none."""
    topics = {name: list(messages) for name, messages in specimens.drive_topics().items()}
    topic = random.choice(("/imu", "/imu", "/odom"))
    many = random.choice((1, 1, 3, 40))
    length = random.choice((0.0, 0.0, 1e-200, 1e-160, 5e-324, 1e300, float("nan"), float("inf")))
    for place in random.sample(range(5, len(topics[topic]) - 5), many):
        message = copy.deepcopy(topics[topic][place])
        pose = message if topic == "/imu" else message.pose.pose
        for part in "xyzw":
            setattr(pose.orientation, part, length * getattr(pose.orientation, part))
        topics[topic][place] = message
    name, write = random.choice([*_WRITERS.items()])
    write(Path(folder) / name, topics)
    if name != "drive.mcap" and random.random() < 0.5:
        told = () if topic == "/odom" else (rf"\b{many}\b",)
        return realistic(random, name, Expected((0,), told=told))
    kind = {"/imu": "imu", "/odom": "reference"}[topic]
    specimen = specimens.Specimen(name, b"")
    told = (told_samples(specimen, kind, fewer=many), rf"\b{many} samples? with a ")
    # What is absurd is refused with its number; what is none is left out.
    codes, words = ((2,), (name,)) if length == 1e300 else ((0,), ())
    return Trial("read", [name, kind], Expected(codes, words, told=told))


_WRITERS = {
    "drive.bag": writers.write_bag,
    "drive.mcap": writers.write_mcap,
    "drive": writers.write_ros2_bag,
}


def folders(random, folder) -> Trial:
    """Folders of ROS 2 bags, with a description that is another one."""
    storage = random.choice(("mcap", "mcap", "db3", "db3", "db3"))
    (Path(folder) / "drive").mkdir()
    for file in specimens.ros2_folder(storage == "mcap"):
        put(folder, f"drive/{file.name}", file.content)
    path = Path(folder) / "drive" / "metadata.yaml"
    whole = yaml.safe_load(path.read_text())
    about = whole["rosbag2_bagfile_information"]
    topics = about["topics_with_message_count"]
    codes, changes = random.choice(_DESCRIPTIONS)
    for key, values in changes.items():
        value = random.choice(values)
        if key == "gone":
            about.pop(random.choice(sorted(about)))
        elif key == "message_count":
            for topic in topics:
                topic[key] = value
        elif key == "name":
            random.choice(topics)["topic_metadata"][key] = value
        else:
            about[key] = value
    if about.get("version") == 9:
        # That of Jazzy: offered_qos_profiles is a list, with names for numbers.
        profile = {"history": "keep_last", "depth": 10, "reliability": "reliable"}
        profile |= {"durability": "volatile", "liveliness": "automatic"}
        for topic in topics:
            topic["topic_metadata"]["offered_qos_profiles"] = [profile]
    content = changes["text"] if "text" in changes else [yaml.safe_dump(whole).encode()]
    path.write_bytes(random.choice(content))
    trial = realistic(random, "drive", Expected(codes, () if codes == _READ else ("drive",)))

    def compare(folder):
        yield from trial.compare(folder)
        found = [file.suffixes[0] for file in (folder / "out").iterdir() if file.suffix != ".yaml"]
        if found != [f".{storage}"]:
            yield f"a bag of {storage} became one of {', '.join(found)}"

    return replace(trial, compare=compare)


_JUNK = (b"", b"\0", b"x", b"a: [", b"&a [*a]", b"a: &a [*a, *a]", b"[" * 3000, b"\xff\xfe")
_ELSEWHERE = ("../../../etc/passwd", "/dev/zero", "/etc/passwd", "nowhere.db3", "", ".")
_DESCRIPTIONS = (
    (_READ, {}),
    *[(_READ, {"version": (9, 9, 9, 8), "ros_distro": ("jazzy",)})] * 2,
    (_REFUSED, {"version": (0, 99, "x", None, -1, 1e300, [9])}),
    (_REFUSED, {"relative_file_paths": [[name] for name in _ELSEWHERE]}),
    (_REFUSED, {"storage_identifier": ("nothing", "", None, 5, "mcap\x1b[2J")}),
    (
        _ANY,
        {
            "compression_format": ("zstd", "gzip", "none\x1b[31m"),
            "compression_mode": ("message", "file", "MESSAGE", "x"),
        },
    ),
    (_ANY, {"message_count": (0, -1, 10**15, 3)}),
    (_ANY, {"name": _STRANGE}),
    (_ANY, {"gone": ("",)}),
    (_REFUSED, {"text": _JUNK}),
)
"""Exit codes, and values in the description, for all of it or for each topic."""


def named_bags(random, folder) -> Trial:
    """Bags with topics that a terminal obeys, or that are names of nothing."""
    topics = dict(specimens.drive_topics())
    kind, topic = random.choice((("imu", "/imu"), ("reference", "/odom")))
    count = random.choice((1, 1, 2))
    chosen = topics.pop(topic)
    for name in random.sample(_STRANGE, count):
        topics[name] = chosen
    name, write = random.choice([*_WRITERS.items()])
    write(Path(folder) / name, topics)
    if count == 2:
        return Trial("read", [name, kind], Expected((2,), (name,)))
    told = (told_samples(specimens.Specimen(name, b""), kind),)
    if name != "drive.mcap" and random.random() < 0.3:
        return realistic(random, name, Expected((0, 2), (name,)))
    if random.random() < 0.3:
        return Trial("check", [name], Expected((*DONE, 2), (name,), told=told))
    return Trial("read", [name, kind], Expected((0, 2), (name,), told=told))


def records(random, folder) -> Trial:
    """MCAP records of odd lengths, and channels without a schema."""
    specimen = specimens.recording("flat.mcap")
    content = bytearray(specimen.content)
    places, at = [], 8
    while at + 9 <= len(content) - 8:
        places.append(at)
        at += 9 + struct.unpack_from("<Q", content, at + 1)[0]
    place = random.choice(places[:8] + random.sample(places, 4))
    wrong = random.choice((0, 1, 2**31, 2**63, 2**64 - 1, len(content)))
    if random.random() < 0.5:
        struct.pack_into("<Q", content, place + 1, wrong)
    else:
        content[place] = random.choice((0, 3, 4, 5, 6, 8, 15, 200))
    name = put(folder, specimen.name, bytes(content))
    return Trial("read", [name, random.choice(specimen.serves)], Expected((0, 2), (name,)))
