"""Trials of bags that are whole as files, and hold what no recorder would write."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import recording_writers as writers
import specimens
import yaml
from kinds_of_known import realistic, told_samples
from trials import Trial, put
from verdict import DONE, Expected

_TERMINAL = (
    *("/imu\x1b[31m", "/imu\nsecond line: all is well", "/imu\x1b]0;title\x07", "/imu\u202eatad"),
    *("/imu\r", "/imu\x7f", "/imu\u2028x", "/imu\x9b31m", "/i\0mu"),
)
_STRANGE = (
    *_TERMINAL,
    "",
    " ",
    "imu",
    "/" * 300,
    "/é☃",
    "/$\\frac{",
    "/=1+1",
    "/'; DROP TABLE a; --",
)


def databases(random, folder) -> Trial:
    """ROS 2 bags whose sqlite3 is right, but not what is in it."""
    specimen = next(one for one in specimens.recordings() if one.name == "drive.db3")
    name = put(folder, specimen.name, specimen.content)
    kind = random.choice(("reference", "imu"))
    topic = {"reference": "/odom", "imu": "/imu"}[kind]
    with closing(sqlite3.connect(Path(folder) / name)) as database:
        ((topic,),) = database.execute("SELECT id FROM topics WHERE name = ?", (topic,))
        expected = random.choice(_SURGERIES)(random, database, topic, specimen, kind)
        database.commit()
    return Trial("read", [name, kind], expected)


_REFUSED = Expected((2,), ("drive.db3",))
_ANY = Expected((0, 2), ("drive.db3",))


def _whole(random, database, topic, specimen, kind):
    database.execute("VACUUM")
    return Expected((0,), told=(told_samples(specimen, kind),))


def _cells(random, database, topic, column, value):
    """Put a value, or an expression of SQL, into some rows of a topic."""
    rows = [
        row for (row,) in database.execute("SELECT id FROM messages WHERE topic_id=?", (topic,))
    ]
    chosen = random.choice((rows, rows[:1], rows[-1:], random.sample(rows, 3)))
    _loose(database)
    for row in chosen:
        database.execute(f"UPDATE messages SET {column} = {value} WHERE id = ?", (row,))
    return len(chosen)


def _loose(database):
    """Let the messages' columns hold anything."""
    database.execute("ALTER TABLE messages RENAME TO strict")
    database.execute("CREATE TABLE messages(id, topic_id, timestamp, data)")
    database.execute("INSERT INTO messages SELECT id, topic_id, timestamp, data FROM strict")
    database.execute("DROP TABLE strict")


def _data(random, database, topic, specimen, kind):
    value = random.choice(
        (
            *("'text'", "''", "NULL", "5", "1.5", "x''", "x'00'", "zeroblob(10)", "'\u2603'"),
            *("x'28b52ffd'", "randomblob(300)", "zeroblob(100000)", "cast(data AS TEXT)"),
            *(
                "substr(data, 1, 50)",
                "data || x'00112233445566778899'",
                "x'00010000ffffffffffffffff'",
            ),
        )
    )
    _cells(random, database, topic, "data", value)
    return _REFUSED


def _stamp(random, database, topic, specimen, kind):
    value = random.choice(
        (
            "'text'",
            "''",
            "NULL",
            "x'00'",
            "1.5",
            "1e300",
            "-5",
            "9223372036854775807",
            "'2019-05-16'",
        )
    )
    _cells(random, database, topic, "timestamp", value)
    # The header's stamps are what counts, as long as the others are numbers at all.
    return _ANY if value[0] in "19-" else _REFUSED


def _keys(random, database, topic, specimen, kind):
    value = random.choice(("'text'", "NULL", "99", "1e300", "x'00'"))
    count = _cells(random, database, topic, "topic_id", value)
    all_of_them = count == specimens.samples(specimen, kind)
    told = told_samples(specimen, kind, gone=count)
    return _REFUSED if all_of_them else Expected((0,), told=(told,))


_ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


def _view(random, database, topic, specimen, kind):
    """A table that is none, but is computed, and perhaps never ends."""
    where = random.choice(("messages", "topics"))
    database.execute(f"DROP TABLE {where}")
    columns = {
        "messages": f"n AS id, {topic} AS topic_id, n AS timestamp, zeroblob(10) AS data",
        "topics": "n AS id, '/imu' || n AS name, 'sensor_msgs/msg/Imu' AS type, "
        "'cdr' AS serialization_format, '' AS offered_qos_profiles",
    }[where]
    database.execute(f"CREATE VIEW {where} AS {_ENDLESS} SELECT {columns} FROM c")
    return _REFUSED


def _hidden_view(random, database, topic, specimen, kind):
    """The bag's own messages, through a view."""
    database.execute("ALTER TABLE messages RENAME TO hidden")
    database.execute("CREATE VIEW messages AS SELECT * FROM hidden")
    return _ANY


def _generated(random, database, topic, specimen, kind):
    """A column that is computed whenever it is read."""
    database.execute("DROP TABLE messages")
    data = random.choice(
        ("zeroblob(900000000)", "zeroblob(timestamp * 1000000)", "hex(zeroblob(1e8))")
    )
    database.execute(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, "
        f"data GENERATED ALWAYS AS ({data}) VIRTUAL)"
    )
    for k in range(500):
        database.execute(f"INSERT INTO messages(topic_id, timestamp) VALUES ({topic}, {k})")
    return _REFUSED


def _no_table(random, database, topic, specimen, kind):
    database.execute(f"DROP TABLE {random.choice(('messages', 'topics'))}")
    return _REFUSED


def _no_column(random, database, topic, specimen, kind):
    table, column = random.choice(
        (("messages", "data"), ("messages", "topic_id"), ("topics", "name"), ("topics", "type"))
    )
    database.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    return _REFUSED


def _named(random, database, topic, specimen, kind):
    """Topics with names that a terminal obeys, or that are none."""
    name = random.choice(_STRANGE)
    database.execute("UPDATE topics SET name = ? WHERE id = ?", (name, topic))
    return Expected((0, 2), ("drive.db3",), told=(told_samples(specimen, kind),))


def _two_named(random, database, topic, specimen, kind):
    """Two topics of a type, so that their names are in a sentence."""
    for name in random.sample(_STRANGE, 2):
        database.execute(
            "INSERT INTO topics(name, type, serialization_format, offered_qos_profiles, "
            "type_description_hash) SELECT ?, type, 'cdr', '', '' FROM topics WHERE id = ?",
            (name, topic),
        )
        database.execute(
            "INSERT INTO messages(topic_id, timestamp, data) SELECT last_insert_rowid(), "
            "timestamp, data FROM messages WHERE topic_id = ?",
            (topic,),
        )
    return _REFUSED


def _typed(random, database, topic, specimen, kind):
    kinds = (
        "",
        "x",
        "a/b/c/d",
        "sensor_msgs/msg/Imu\x1b[2J",
        "std_msgs/msg/String",
        "sensor_msgs/Imu",
    )
    database.execute("UPDATE topics SET type = ? WHERE id = ?", (random.choice(kinds), topic))
    return _ANY


def _topic_cells(random, database, topic, specimen, kind):
    """Names and types that are no text."""
    column = random.choice(("name", "type", "id"))
    database.execute("CREATE TABLE other AS SELECT * FROM topics")
    database.execute("DROP TABLE topics")
    database.execute("ALTER TABLE other RENAME TO topics")
    value = random.choice(("5", "1.5", "NULL", "x'ff00'", "zeroblob(100)", "'a' || char(0)"))
    database.execute(f"UPDATE topics SET {column} = {value} WHERE id = ?", (topic,))
    return _ANY


_SURGERIES = (
    *(_whole, _data, _data, _data, _stamp, _stamp, _keys, _view, _view, _hidden_view, _generated),
    *(_no_table, _no_column, _named, _named, _two_named, _typed, _topic_cells),
)


def quaternions(random, folder) -> Trial:
    """Bags in which some orientations are none."""
    topics = {name: list(messages) for name, messages in specimens.drive_topics().items()}
    topic = random.choice(("/imu", "/imu", "/odom"))
    many = random.choice((1, 1, 3, 40))
    length = random.choice((0.0, 0.0, 1e-200, 1e-160, 5e-324, 1e300, float("nan"), float("inf")))
    for place in random.sample(range(5, len(topics[topic]) - 5), many):
        message = topics[topic][place]
        pose = message.orientation if topic == "/imu" else message.pose.pose.orientation
        stamp = writers.receipt_of(message)
        values = [length * part for part in (pose.x, pose.y, pose.z, pose.w)]
        if topic == "/imu":
            gyro, accel = message.angular_velocity, message.linear_acceleration
            changed = writers.imu(
                stamp, values, (gyro.x, gyro.y, gyro.z), (accel.x, accel.y, accel.z)
            )
        else:
            position = message.pose.pose.position
            changed = writers.odometry(stamp, (position.x, position.y, 0.0), values)
        topics[topic][place] = changed
    ending = random.choice((".bag", ".mcap", ".db3"))
    name = f"drive{ending}"
    path = Path(folder) / name
    if ending == ".bag":
        writers.write_bag(path, topics)
    elif ending == ".mcap":
        writers.write_mcap(path, topics)
    else:
        writers.write_ros2_bag(Path(folder) / "drive", topics)
        name = "drive"
    if ending != ".mcap" and random.random() < 0.5:
        told = () if topic == "/odom" else (rf"\b{many}\b",)
        return realistic(random, name, Expected((0,), told=told))
    kind = {"/imu": "imu", "/odom": "reference"}[topic]
    specimen = specimens.Specimen(name, b"")
    told = (told_samples(specimen, kind, fewer=many), rf"\b{many} samples? with a ")
    # What is absurd is refused with its number; what is none is left out.
    codes, words = ((2,), (name,)) if length == 1e300 else ((0,), ())
    return Trial("read", [name, kind], Expected(codes, words, told=told))


def folders(random, folder) -> Trial:
    """Folders of ROS 2 bags, with a description that is another one."""
    mcap = random.random() < 0.4
    (Path(folder) / "drive").mkdir()
    for file in specimens.ros2_folder(mcap):
        put(folder, f"drive/{file.name}", file.content)
    path = Path(folder) / "drive" / "metadata.yaml"
    whole = yaml.safe_load(path.read_text())
    about = whole["rosbag2_bagfile_information"]
    expected = random.choice(_DESCRIPTIONS)(random, about, whole)
    if expected is None:
        junk = (b"", b"\0", b"x", b"a: [", b"&a [*a]", b"a: &a [*a, *a]", b"[" * 3000, b"\xff\xfe")
        path.write_bytes(random.choice(junk))
        expected = Expected((2,), ("drive",))
    else:
        path.write_text(yaml.safe_dump(whole))
    trial = realistic(random, "drive", expected)
    storage = {True: "mcap", False: "db3"}[mcap]

    def compare(folder):
        yield from trial.compare(folder)
        found = [file.suffix for file in (folder / "out").iterdir() if file.suffix != ".yaml"]
        if found != [f".{storage}"]:
            yield f"a bag of {storage} became one of {', '.join(found)}"

    return Trial(trial.tool, trial.arguments, expected, compare=compare)


_COPIED = Expected((0,))
_NOT_COPIED = Expected((2,), ("drive",))


def _as_it_was(random, about, whole):
    return _COPIED


def _version(random, about, whole):
    """Version 9 is that of Jazzy: offered_qos_profiles is a list, with names for numbers."""
    about["version"] = random.choice((9, 9, 9, 8))
    about["ros_distro"] = "jazzy"
    for topic in about["topics_with_message_count"]:
        profile = {"history": "keep_last", "depth": 10, "reliability": "reliable"}
        profile |= {"durability": "volatile", "liveliness": "automatic"}
        if about["version"] == 9:
            topic["topic_metadata"]["offered_qos_profiles"] = [profile]
    return _COPIED


def _no_version(random, about, whole):
    about["version"] = random.choice((0, 99, "x", None, -1, 1e300, [9]))
    return _NOT_COPIED


def _away(random, about, whole):
    """Files somewhere else."""
    name = random.choice(
        ("../../../etc/passwd", "/dev/zero", "/etc/passwd", "nowhere.db3", "", ".")
    )
    about["relative_file_paths"] = [name]
    return _NOT_COPIED


def _other_storage(random, about, whole):
    about["storage_identifier"] = random.choice(("nothing", "", None, 5, "mcap\x1b[2J"))
    return _NOT_COPIED


def _packed(random, about, whole):
    about["compression_format"] = random.choice(("zstd", "gzip", "none\x1b[31m"))
    about["compression_mode"] = random.choice(("message", "file", "MESSAGE", "x"))
    return Expected((0, 2), ("drive",))


def _without(random, about, whole):
    about.pop(random.choice(sorted(about)))
    return Expected((0, 2), ("drive",))


def _counted(random, about, whole):
    """Numbers of messages that are not those of the bag."""
    for topic in about["topics_with_message_count"]:
        topic["message_count"] = random.choice((0, -1, 10**15, 3))
    return Expected((0, 2), ("drive",))


def _other_names(random, about, whole):
    topic = random.choice(about["topics_with_message_count"])
    topic["topic_metadata"]["name"] = random.choice(_STRANGE)
    return Expected((0, 2), ("drive",))


def _no_description(random, about, whole):
    return None


_DESCRIPTIONS = (
    *(_as_it_was, _version, _version, _no_version, _away, _other_storage, _packed, _without),
    *(_counted, _other_names, _no_description),
)


def named_bags(random, folder) -> Trial:
    """ROS 1 and MCAP bags with topics that a terminal obeys."""
    topics = specimens.drive_topics()
    kind, topic = random.choice((("imu", "/imu"), ("reference", "/odom")))
    count = random.choice((1, 1, 2))
    chosen = topics.pop(topic)
    for name in random.sample(_TERMINAL, count):
        topics[name] = chosen
    write, name = random.choice(
        ((writers.write_bag, "drive.bag"), (writers.write_mcap, "drive.mcap"))
    )
    write(Path(folder) / name, topics)
    if count == 2:
        return Trial("read", [name, kind], Expected((2,), (name,)))
    told = (told_samples(specimens.Specimen(name, b""), kind),)
    tool = random.choice(("read", "check", "apply"))
    if tool == "apply" and name == "drive.bag":
        return realistic(random, name, Expected((0, 2), (name,)))
    arguments = [name, kind] if tool == "read" else [name]
    if tool == "check":
        return Trial("check", arguments, Expected((*DONE, 2), (name,), told=told))
    return Trial("read", [name, kind], Expected((0, 2), (name,), told=told))


def records(random, folder) -> Trial:
    """MCAP records of odd lengths, and channels without a schema."""
    specimen = next(one for one in specimens.recordings() if one.name == "flat.mcap")
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
