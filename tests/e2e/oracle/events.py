"""Events that name themselves and vouch for their content, so that a reader needs no list of what was sent.

An id is `RUN.WORKER.NUMBER.CHECKSUM`; the checksum is that of the whole text of the event with itself as zeros. The
daemon is told to complete meta.request_id only, so what is in a topic must be that text byte by byte, but for it.
"""
import re
import zlib

SCHEMA = "/library/loan/1.1.0"
PREFIX = "oracle."  # of topics
ERROR_STREAM = "conservation.errors"

ORDINARY = ("conservation.a", "conservation.b", "conservation.keyed")
SIZES = "conservation.sizes"    # takes large events; its max.message.bytes is lowered
DOOMED = "conservation.doomed"  # its topic is deleted
DENIED = "conservation.denied"  # writing to it is forbidden
STREAMS = ORDINARY + (SIZES, DOOMED, DENIED)
KEYED = "conservation.keyed"

LARGE_BYTES = 30_000
ZEROS = b"00000000"
COMPLETED = re.compile(rb',"request_id":"[0-9a-f-]{36}"')


def stream_config():
    streams = {name: {"schema_title": "library/loan"} for name in STREAMS}
    streams[KEYED]["message_key_fields"] = {"reader": "reader_id"}
    streams[ERROR_STREAM] = {"schema_title": "error"}
    return {"streams": streams}


def reader_of(number):
    return f"r-{number % 1000}"


def key_of(stream, number):
    return f'{{"reader":"{reader_of(number)}"}}' if stream == KEYED else ""


def make(run, worker, number, stream, moment, filler, schema=SCHEMA, action="lend"):
    """The exact bytes of an event. `moment` is ISO 8601."""
    before = f'{{"$schema":"{schema}","meta":{{"id":"{run}.{worker}.{number}.'.encode()
    after = (f'","stream":"{stream}","dt":"{moment}"}},"action":"{action}","book":{{"isbn":"9780141439518",'
             f'"title":"{filler}"}},"reader_id":"{reader_of(number)}","fee_cents":{number}}}').encode()
    checksum = zlib.crc32(after, zlib.crc32(ZEROS, zlib.crc32(before)))
    return b"%b%08x%b" % (before, checksum, after)


def find_id(value, run):
    """(worker, number, where its checksum begins), or None if the text has no id of this run."""
    start = value.find(b'"id":"%b.' % run)
    if start < 0:
        return None
    end = value.find(b'"', start + 6)
    parts = value[start + 6:end].split(b".")
    if len(parts) != 4 or len(parts[3]) != 8 or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    return int(parts[1]), int(parts[2]), end - 8


def is_intact(value, at):
    """Whether the text is what was sent, byte by byte; `at` as find_id gives it."""
    value = COMPLETED.sub(b"", value, count=1)  # behind the id
    checksum = zlib.crc32(value[at + 8:], zlib.crc32(ZEROS, zlib.crc32(value[:at])))
    return value[at:at + 8] == b"%08x" % checksum


def stream_in(value):
    start = value.find(b'"stream":"') + 10
    return value[start:value.find(b'"', start)].decode(errors="replace")


def ids_between(content, run, begin, end):
    """(worker, number) of the events of which a byte between the two may be a part, in a file that holds them one after
    the other; the neighbours on both sides are among them."""
    found = [(match.start(), (int(match[1]), int(match[2])))
             for match in re.finditer(rb'"id":"%b\.(\d+)\.(\d+)\.' % run.encode(), content)]
    before = [one for at, one in found if at < begin]
    return frozenset(before[-1:] + [one for at, one in found if begin <= at < end] +
                     [one for at, one in found if at >= end][:1])
