# SPDX-License-Identifier: Apache-2.0
"""An XSpace in the official reader of protobuf: its schema, with texts as bytes, which is the same on the wire."""

import re

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

KINDS = {"int64": 3, "uint64": 4, "double": 1, "bytes": 12, "message": 11}
# message: (field, number, type, of which message; a list is repeated, "oneof NAME" is one of several)
SCHEMA = {
    "XSpace": [("planes", 1, ["XPlane"]), ("errors", 2, ["bytes"]), ("warnings", 3, ["bytes"]), ("hostnames", 4, ["bytes"])],
    "XPlane": [("id", 1, "int64"), ("name", 2, "bytes"), ("lines", 3, ["XLine"]), ("event_metadata", 4, ["EventEntry"]),
               ("stat_metadata", 5, ["StatEntry"]), ("stats", 6, ["XStat"])],
    "EventEntry": [("key", 1, "int64"), ("value", 2, "XEventMetadata")],
    "StatEntry": [("key", 1, "int64"), ("value", 2, "XStatMetadata")],
    "XLine": [("id", 1, "int64"), ("name", 2, "bytes"), ("timestamp_ns", 3, "int64"), ("events", 4, ["XEvent"]),
              ("duration_ps", 9, "int64"), ("display_id", 10, "int64"), ("display_name", 11, "bytes")],
    "XEvent": [("metadata_id", 1, "int64"), ("offset_ps", 2, "oneof data int64"), ("duration_ps", 3, "int64"),
               ("stats", 4, ["XStat"]), ("num_occurrences", 5, "oneof data int64")],
    "XStat": [("metadata_id", 1, "int64"), ("double_value", 2, "oneof value double"), ("uint64_value", 3, "oneof value uint64"),
              ("int64_value", 4, "oneof value int64"), ("str_value", 5, "oneof value bytes"),
              ("bytes_value", 6, "oneof value bytes"), ("ref_value", 7, "oneof value uint64")],
    "XEventMetadata": [("id", 1, "int64"), ("name", 2, "bytes"), ("metadata", 3, "bytes"), ("display_name", 4, "bytes"),
                       ("stats", 5, ["XStat"]), ("child_id", 6, ["int64"])],
    "XStatMetadata": [("id", 1, "int64"), ("name", 2, "bytes"), ("description", 3, "bytes")],
}


def message_type():
    file = descriptor_pb2.FileDescriptorProto(name="xspace.proto", package="t", syntax="proto3")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            added = message.field.add(name=field, number=number, label=3 if isinstance(kind, list) else 1)
            words = (kind[0] if isinstance(kind, list) else kind).split()
            if words[0] == "oneof":
                if words[1] not in [one.name for one in message.oneof_decl]:
                    message.oneof_decl.add(name=words[1])
                added.oneof_index = 0
            added.type = KINDS.get(words[-1], KINDS["message"])
            if words[-1] not in KINDS:
                added.type_name = f".t.{words[-1]}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.XSpace"))


XSpace = message_type()


def parse(data):
    """The message; None = the reader refuses it."""
    space = XSpace()
    try:
        space.ParseFromString(data)
    except DecodeError:
        return None
    return space


def timelines(space):
    """The name of a TPU's op is its whole text: what it is called is the one for display.  (plane, id, line) -> [[(line's begin in ns, offset in ps, or None = it has no place, length in ps, name)] of an event],
    in the order of the file.  Planes of one name are one, and so are their lines of one id and name."""
    lines = {}
    for plane in space.planes:
        names = {}
        for entry in plane.event_metadata:
            shown = re.fullmatch(rb"/device:TPU:\d+", plane.name) and entry.value.display_name
            names[entry.key] = shown or entry.value.name
        for line in plane.lines:
            events = lines.setdefault((plane.name.hex(), line.id, line.name.hex()), [])
            for event in line.events:
                offset = None if event.WhichOneof("data") == "num_occurrences" else event.offset_ps
                events.append((line.timestamp_ns, offset, event.duration_ps, names.get(event.metadata_id, b"").hex()))
    return lines
