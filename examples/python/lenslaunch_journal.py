"""Keeps a worker's open spans where they survive it.

A worker that is killed (SIGKILL, out of memory, a segfault) loses the spans that were
open, the ones that say what it was doing: the OpenTelemetry SDK exports a span only when
it ends. This span processor notes names, ids and times of spans in a small file that
lenslaunch made for this rank and reads when the rank has gone. Copy this file next to
your program; it needs nothing but the OpenTelemetry API and SDK.

    import lenslaunch_journal
    trace.get_tracer_provider().add_span_processor(
        lenslaunch_journal.JournalSpanProcessor.from_env())

Registered like this, after the processor that exports, it keeps open spans. With a wrapped
exporter, spans that ended but did not reach the collector survive too:

    journal = JournalSpanProcessor.from_env()
    provider.add_span_processor(journal)  # first
    provider.add_span_processor(BatchSpanProcessor(journal.wrap(OTLPSpanExporter())))

Without LENSLAUNCH_SPAN_JOURNAL, or when the file cannot be used, it does nothing. It never
blocks, never raises, and adds about 2 microseconds to a span. It keeps no attributes, events
or links. One process writes a journal: what inherits the variable runs without one, and so
does a child made by fork.

attach_parent() makes the launcher's span (TRACEPARENT) the parent of this process's spans.

The format is described in docs/journal-format.md of lenslaunch, version 1.
"""

import fcntl
import json
import math
import mmap
import os
import stat
import struct
import sys
import threading
import time
import weakref
from zlib import crc32

from opentelemetry.context import attach
from opentelemetry.propagators.textmap import Getter
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

__all__ = ["VARIABLE", "JournalSpanProcessor", "attach_parent", "install", "parent_context"]

VARIABLE = "LENSLAUNCH_SPAN_JOURNAL"

_MAGIC = b"LLSPANJ\n"
_VERSION, _SLOT_SIZE, _MAX_SLOTS = 1, 256, 4096
_HEADER = struct.Struct("<8sIII")  # magic, version, slot size, slot count
_HEADER_CRC = 296
_CLAIM = struct.Struct("<QQq")  # pid, start in ticks, time
_CLAIM_AT, _CLAIM_CHECK = 2048, 2072
_RESOURCE, _RESOURCE_ROOM = 4096, 12280
_SCOPES, _SCOPE_SIZE, _MAX_SCOPES = 16384, 128, 32
_SLOTS = 20480

# Numbers of single words of 8 bytes; the end is counted from the slot's first.
_CLEAN, _SKIPPED, _ACTIVITY = 2080 // 8, 2088 // 8, 2096 // 8
_END = 232 // 8

_MAX_NAME = 152
_fill = struct.Struct("<16s8s8sqIHH152sqq").pack_into  # bytes 16..231 of a slot
_NO_PARENT = bytes(8)
_NAME_CUT, _PARENT_REMOTE = 0x40, 0x80
# The word behind the state without its CRC, by kind of the API (OTLP's is one more) and flags.
_CRC_AND_MARKS = [
    ((kind ^ flags ^ 0x5A) | kind << 16 | flags << 24) << 32
    for kind in range(1, 6)
    for flags in range(256)
]
_SUCCESS = SpanExportResult.SUCCESS

_thread = threading.local()


class JournalSpanProcessor(SpanProcessor):
    """A span processor that writes the journal; from_env() makes one.

    There are no locks: lists and dictionaries of Python hand out a slot, and whoever took a
    slot's number out of one owns the slot. The state word is written last, as one store of 8
    bytes, so a kill at any moment leaves no span or a whole one.
    """

    def __init__(self, path=None):
        self.step = self.epoch = 0  # set them as you go: spans that start carry them
        self.error = None  # why there is no journal
        self._alive = b"\0"  # 1 in the only process that writes
        self._wrapped = self._left = False
        self._fresh = True
        self._open, self._ended = {}, {}  # span id -> slot: (number of its first word, its body)
        self._scopes, self._scope = {}, (None, 0)  # (name, version) -> number; the last one
        if path:
            try:
                self._map = _claim(path)
                self._words = memoryview(self._map).cast("Q")
                self._halves = memoryview(self._map).cast("I")
                self._take_over()
                self._alive = _zero_in_children()
            except Exception as error:  # a program must run without a journal, too
                self.error = error

    @classmethod
    def from_env(cls):
        """The journal of this rank; one that does nothing if there is none."""
        return cls(os.environ.get(VARIABLE))

    def wrap(self, exporter):
        """An exporter that tells the journal which spans have arrived.

        Call it before the first span, and register the journal before the processor that
        exports. A span then stays in the journal until its export has succeeded.
        """
        if not self._alive[0]:
            return exporter
        self._wrapped = True
        return _Exporter(exporter, self)

    def on_start(self, span, parent_context=None):
        # One function and few steps on purpose: this is paid for every span.
        if not self._alive[0]:
            return
        try:
            context = span.context
            flags = context.trace_flags & 3
            if not flags & 1:
                return  # recorded, but sampled out: nobody exports it
            parent = span.parent
            if parent is None:
                parent_id = _NO_PARENT
            else:
                parent_id = parent.span_id.to_bytes(8, "big")
                if parent.is_remote:
                    flags |= _PARENT_REMOTE
            name = span.name.encode()
            if len(name) > _MAX_NAME:
                name = _cut(span.name, _MAX_NAME)
                flags |= _NAME_CUT
            scope = self._scope
            if scope[0] is not span.instrumentation_scope:
                scope = self._scope_of(span.instrumentation_scope)
            try:
                thread = _thread.id
            except AttributeError:
                thread = _thread.id = threading.get_native_id()
            if self._fresh:
                self._fresh = False
                self._write_resource(span.resource)
            try:
                slot = self._free.pop()
            except IndexError:
                slot = self._oldest_ended() if self._ended else None
                if slot is None:  # full of open spans: they are older, and matter more
                    self._words[_SKIPPED] += 1
                    return
            word, body = slot
            span_id, start, words = context.span_id, span.start_time, self._words
            _fill(
                body, 0, context.trace_id.to_bytes(16, "big"), span_id.to_bytes(8, "big"), parent_id,
                start, thread, scope[1], len(name), name, self.step, self.epoch,
            )  # fmt: skip
            words[word + 1] = crc32(body) | _CRC_AND_MARKS[span.kind._value_ << 8 | flags]
            self._open[span_id] = slot
            words[word] += 5  # the next generation, state 1; it was state 0
            words[_ACTIVITY] = start
        except UnicodeEncodeError:  # a lone surrogate in the name: once more without it
            self.on_start(_Renamed(span), parent_context)
        except Exception:  # whatever it is, it is no business of the program's
            pass

    def on_end(self, span):
        if not self._alive[0]:
            return
        try:
            slot = self._open.pop(span.context.span_id, None)
            if slot is None:
                return
            if self._wrapped or self._left:
                self._keep(span, slot)
            else:
                self._words[slot[0]] -= 1
                self._free.append(slot)
            self._words[_ACTIVITY] = span.end_time
        except Exception:
            pass

    def _keep(self, span, slot):
        """Ends a span that nobody is known to have yet: end, marks, state, in this order."""
        words, word = self._words, slot[0]
        end, marks, status = span.end_time, words[word + 1] >> 32, span.status.status_code.value
        words[word + _END] = end
        fold = end ^ end >> 32
        fold ^= fold >> 16
        check = (fold ^ fold >> 8 ^ status ^ marks >> 16 ^ marks >> 24 ^ 0x5A) & 0xFF
        self._halves[word * 2 + 3] = check | status << 8 | (marks & 0xFFFF0000)
        words[word] += 1
        self._ended[span.context.span_id] = slot

    def _exported(self, spans):
        if not self._alive[0]:
            return
        for span in spans:
            span_id = span.context.span_id
            slot = self._ended.pop(span_id, None)
            if slot is None:  # arrived before the journal heard of its end
                slot = self._open.pop(span_id, None)
            if slot is not None:
                self._words[slot[0]] &= ~3
                self._free.append(slot)

    def _oldest_ended(self):
        """The slot of the span that ended first, free for another; None if others were faster."""
        for _ in range(8):
            try:
                slot = self._ended.pop(next(iter(self._ended)))
            except (KeyError, RuntimeError):  # another thread changed it meanwhile
                continue
            except StopIteration:
                return None
            self._words[slot[0]] &= ~3
            return slot
        return None

    def shutdown(self):
        """Marks the journal as left in order. What is open stays: nobody else tells of it."""
        if self._alive[0]:
            self._left = True  # a span that ends now is exported by nobody
            self._words[_CLEAN] = 1

    def force_flush(self, timeout_millis=30000):
        return True

    # --- once in a process --------------------------------------------------------------

    def _take_over(self):
        """Leaves slots and scopes alone that a program before execv has filled."""
        words, view = self._words, memoryview(self._map)
        self._free = [
            (at // 8, view[at + 16 : at + 232])
            for at in range(len(self._map) - _SLOT_SIZE, _SLOTS - 1, -_SLOT_SIZE)
            if words[at // 8] & 3 == 0
        ]
        self._unused = []
        for number in range(_MAX_SCOPES, 0, -1):
            at = _SCOPES + (number - 1) * _SCOPE_SIZE
            word = words[at // 8]
            if word:
                name, version = word & 0xFFFF, word >> 16 & 0xFFFF
                text = self._map[at + 8 : at + 8 + name + version]
                self._scopes[text[:name], text[name:]] = number
            else:
                self._unused.append(number)

    def _write_resource(self, resource):
        try:
            attributes = {str(k): _plain(v) for k, v in resource.attributes.items()}
            document = {"attributes": {k: v for k, v in attributes.items() if v is not None}}
            if resource.schema_url:
                document["schema_url"] = resource.schema_url
            text = json.dumps(document, allow_nan=False).encode()
        except Exception:  # without it the rank's carrier has to do
            return
        word = _RESOURCE // 8
        self._words[word] = 0
        if len(text) <= _RESOURCE_ROOM:
            self._map[_RESOURCE + 8 : _RESOURCE + 8 + len(text)] = text
            self._words[word] = crc32(text) << 32 | len(text)

    def _scope_of(self, scope):
        """The scope with its number; 0 for none and for one that there is no room for."""
        number = 0
        if scope is not None:
            key = name, version = _cut(scope.name or "", 88), _cut(scope.version or "", 32)
            number = self._scopes.get(key, 0)
            if not number and self._unused and (name or version):
                number = self._unused.pop()  # another thread may add the same: that costs room only
                at, text = _SCOPES + (number - 1) * _SCOPE_SIZE, name + version
                self._map[at + 8 : at + 8 + len(text)] = text
                self._words[at // 8] = crc32(text) << 32 | len(version) << 16 | len(name)
                self._scopes[key] = number
        self._scope = found = (scope, number)
        return found


def _cut(text, most):
    """UTF-8 of at most so many bytes, cut on a character boundary."""
    data = str(text).encode("utf-8", "replace")
    return data if len(data) <= most else data[:most].decode("utf-8", "ignore").encode()


def _plain(value):
    """A resource attribute as JSON can hold it; None for what it cannot."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None


class _Renamed:
    """A span whose name can be written."""

    def __init__(self, span):
        self._span = span
        self.name = span.name.encode("utf-8", "replace").decode()

    def __getattr__(self, name):
        return getattr(self._span, name)


class _Exporter(SpanExporter):
    """An exporter that frees the slots of what has arrived."""

    def __init__(self, exporter, journal):
        self._exporter, self._journal = exporter, journal

    def export(self, spans):
        result = self._exporter.export(spans)
        if result is _SUCCESS:
            try:
                self._journal._exported(spans)
            except Exception:
                pass
        return result

    def shutdown(self):
        return self._exporter.shutdown()

    def force_flush(self, timeout_millis=30000):
        return self._exporter.force_flush(timeout_millis)

    def __getattr__(self, name):  # whatever else the exporter can do
        return getattr(self._exporter, name)


# --- opening -------------------------------------------------------------------------------


def _claim(path):
    """Maps the journal and makes this process its one writer, or says why not."""
    if sys.byteorder != "little":
        raise OSError("this machine's byte order is not that of the format")
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    fd = os.open(path, flags)
    try:
        size = _check(os.fstat(fd))
        data = mmap.mmap(fd, size)
        try:
            _check_header(data, size)
            _claim_for_life(fd, data)
        except BaseException:
            data.close()
            raise
        return data
    finally:
        os.close(fd)  # the mapping keeps the file open, and with it the lock


def _check(info):
    if not stat.S_ISREG(info.st_mode) or info.st_nlink != 1:
        raise OSError("it is no file with one name")
    if info.st_uid != os.geteuid() or info.st_mode & 0o077:
        raise OSError("it is not this user's alone")
    if not _SLOTS < info.st_size <= _SLOTS + _MAX_SLOTS * _SLOT_SIZE:
        raise OSError("it is no span journal")
    return info.st_size


def _check_header(data, size):
    magic, version, slot_size, slots = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise OSError("it is no span journal")
    if version != _VERSION:
        raise OSError(f"it has version {version} of the format, this program knows {_VERSION}")
    (crc,) = struct.unpack_from("<I", data, _HEADER_CRC)
    if slot_size != _SLOT_SIZE or _SLOTS + slots * _SLOT_SIZE != size or crc != crc32(data[:_HEADER_CRC]):
        raise OSError("its first page is damaged")


def _claim_for_life(fd, data):
    """Writes the claim under a lock that is held as long as the mapping.

    The lock keeps a second writer out of this very process. A program that replaced itself
    with execv, which unmaps, finds its own claim and goes on with the journal.
    """
    with open("/proc/self/stat", "rb") as file:  # the name may hold spaces and parentheses
        started = int(file.read().rpartition(b")")[2].split()[19])
    check = memoryview(data).cast("Q")

    def not_ours():
        claimed = check[_CLAIM_CHECK // 8] == _claim_word(data)
        return claimed and _CLAIM.unpack_from(data, _CLAIM_AT)[:2] != (os.getpid(), started)

    try:
        for last in (False,) * 20 + (True,):
            if not_ours():
                raise OSError("another process writes it")
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:  # one that finds it came late holds the lock for an instant
                if last:
                    raise
                time.sleep(0.001)
        if not_ours():
            raise OSError("another process writes it")
        _CLAIM.pack_into(data, _CLAIM_AT, os.getpid(), started, time.time_ns())
        check[_CLEAN] = 0
        check[_CLAIM_CHECK // 8] = _claim_word(data)
    finally:
        check.release()


def _claim_word(data):
    return 1 << 32 | crc32(data[_CLAIM_AT:_CLAIM_CHECK])


def _zero_in_children():
    """A byte that is 1 here and 0 in any child, which has the mapping, too, and never writes.

    The kernel wipes its page at every fork, also one that Python does not know of, and to
    look at it costs less than to ask for the pid. Before Linux 4.14 only the hook does.
    """
    page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        page.madvise(18)  # MADV_WIPEONFORK of linux/mman.h
    except OSError:
        pass
    page[0] = 1
    reference = weakref.ref(page)

    def forget():
        if (page := reference()) is not None:
            page[0] = 0

    os.register_at_fork(after_in_child=forget)
    return page


# --- beside ----------------------------------------------------------------------------------


def install(journal=None, provider=None):
    """Registers a journal with the (global) tracer provider and returns it.

    Where telemetry is off, or this rank is one that does not export, the provider takes no
    processors, and there is nothing to keep.
    """
    from opentelemetry import trace

    journal = journal or JournalSpanProcessor.from_env()
    add = getattr(provider or trace.get_tracer_provider(), "add_span_processor", None)
    if add is not None:
        add(journal)
    return journal


class _Environment(Getter):
    """The environment as a carrier: names of variables are upper case."""

    def get(self, carrier, key):
        value = carrier.get(key.upper())
        return None if value is None else [value]

    def keys(self, carrier):
        return [name.lower() for name in carrier]


def parent_context(environ=os.environ):
    """The context of TRACEPARENT (and TRACESTATE): the launcher's span of this worker.

    No SDK reads it by itself. Pass it as `context` of a span, or use attach_parent().
    """
    return TraceContextTextMapPropagator().extract(environ, getter=_Environment())


def attach_parent(environ=os.environ):
    """Makes the launcher's span the parent of the spans that this thread starts from now on.

    Returns a token for opentelemetry.context.detach().
    """
    return attach(parent_context(environ))
