"""Keeps a worker's open spans where they survive it.

A worker that is killed (SIGKILL, out of memory, a segfault) loses the spans that were
open, the ones that say what it was doing: the OpenTelemetry SDK exports a span only when
it ends. This span processor notes names, ids and times of spans in a small file that
lenslaunch made for this rank and reads when the rank has gone. Copy this file next to
your program; it needs nothing but the OpenTelemetry API and SDK.

Beside a set-up that makes the tracer provider itself (NeMo Lens, opentelemetry-instrument),
after it:

    lenslaunch_journal.install()

With a provider of your own, install() does as well, or:

    journal = JournalSpanProcessor.from_env()
    provider.add_span_processor(journal)
    provider.add_span_processor(BatchSpanProcessor(journal.wrap(OTLPSpanExporter())))

With a wrapped exporter, spans that ended but did not reach the collector survive, too. One
that exports to no batch processor needs none: register the journal after it.

Without LENSLAUNCH_SPAN_JOURNAL, or when the file cannot be used, it does nothing. It never
blocks, never raises, and adds about 2 microseconds to a span, 3 with a wrapped exporter. It
keeps no attributes, events or links. One process writes a journal: what inherits the variable
runs without one, and so does a child made by fork.

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
from itertools import islice
from zlib import crc32

from opentelemetry import trace
from opentelemetry.context import attach
from opentelemetry.propagators.textmap import Getter
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode
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

# Numbers of single words of 8 bytes.
_CLEAN, _SKIPPED, _ACTIVITY = 2080 // 8, 2088 // 8, 2096 // 8
_END = 232 // 8  # from the state word

_MAX_NAME = 152
# Bytes 12..231 of a slot. What many spans have in common is one piece of bytes, which costs
# less than its parts: 160 of the label, 16 of the progress.
_fill = struct.Struct("<I16s8s8sq160s16s").pack_into
_label = struct.Struct("<IHH152s").pack  # thread, scope, length of the name, name
_progress = struct.Struct("<qq").pack  # step, epoch
_NO_PARENT = bytes(8)
_NAME_CUT, _PARENT_REMOTE = 0x40, 0x80
_MAX_LABELS = 512  # that a thread keeps ready
_NO_LABEL = object(), b"", 0  # it is of no scope that there is
_ACTIVITY_STEP = 1_000_000  # nanoseconds: a store is worth more than this precision

_INTERNAL, _UNSET = SpanKind.INTERNAL, StatusCode.UNSET

# What a span that the SDK can make does not raise, and little else: a signal handler's own
# exception, which can come up anywhere, is the program's.
_ODD = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
    struct.error,
)  # fmt: skip


def _marks(kind, flags):
    """Bytes 12..15 of a slot; kind is the API's, OTLP's is one more."""
    kind += 1
    return (kind ^ flags ^ 0x5A) | kind << 16 | flags << 24


# By trace flags, for a span of kind internal: 0 for one that is not sampled.
_LOCAL = [flags & 1 and _marks(0, flags & 3) for flags in range(256)]
_REMOTE = [flags & 1 and _marks(0, flags & 3 | _PARENT_REMOTE) for flags in range(256)]
# By kind: what makes those marks the kind's.
_KINDS = [_marks(0, 0) ^ _marks(kind, 0) for kind in range(5)]
_CUT = _marks(0, 0) ^ _marks(0, _NAME_CUT)


class JournalSpanProcessor(SpanProcessor):
    """A span processor that writes the journal; from_env() makes one.

    Without a journal it is an idle processor. With one, its methods on_start and on_end are
    the functions of _writer().
    """

    def __init__(self, path=None):
        self._step = self._epoch = 0
        self._progress = bytes(16)
        self.error = None  # why there is no journal
        self._alive = b"\0"  # 1 in the only process that writes
        self._wrapped, self._provider = False, None
        if path:
            try:
                self._map = _claim(path)
                self._words = memoryview(self._map).cast("Q")
                self._alive = _zero_in_children()
                self.on_start, self.on_end, *self._functions = _writer(self)
            except Exception as error:  # a program must run without a journal, too
                self.error = error

    @property
    def step(self):
        """Where the program is, like epoch: set them as you go. Spans that start carry them."""
        return self._step

    @step.setter
    def step(self, step):
        self._step = _integer(step)
        self._progress = _progress(self._step, self._epoch)

    @property
    def epoch(self):
        return self._epoch

    @epoch.setter
    def epoch(self, epoch):
        self._epoch = _integer(epoch)
        self._progress = _progress(self._step, self._epoch)

    @classmethod
    def from_env(cls):
        """The journal of this rank; one that does nothing if there is none."""
        return cls(os.environ.get(VARIABLE))

    def wrap(self, exporter):
        """An exporter that tells the journal which spans have arrived.

        Call it before the first span. A span then stays in the journal, with its true end,
        until its export has succeeded.
        """
        if not self._alive[0]:
            return exporter
        if not self._wrapped:
            self._wrapped = True
            # The SDK calls the former before any processor's on_end, so that it does not
            # matter where the journal is registered; one that does not calls the latter.
            self._on_ending, self.on_end = self._functions[:2]
        return _Exporter(exporter, self._functions[2])

    def shutdown(self):
        """Marks the journal as left in order. What is open stays: nobody else tells of it."""
        if self._alive[0]:
            self.on_end = self._functions[1]  # a span that ends now is exported by nobody
            self._words[_CLEAN] = 1

    def force_flush(self, timeout_millis=30000):
        return True


def _writer(journal):
    """The functions that are paid for with every span.

    Everything that they need is a variable of theirs, whatever can be prepared is, and
    little is checked: what they do not expect raises one of _ODD, and is no business of the
    program's. A slot is filled in place, which nobody sees: its state is still free.

    There are no locks: lists and dictionaries of Python hand out a slot, and whoever took a
    slot out of one owns it. The state word is written last, as one store of 8 bytes, so a
    kill at any moment leaves no span or a whole one.
    """
    data, words, alive = journal._map, journal._words, journal._alive
    halves = memoryview(data).cast("I")
    free, opened, ended = _free_slots(data, words), {}, {}  # the latter by span id
    take, give, oldest = free.pop, free.append, []
    thread_of = threading.local()
    # What many spans have in common, as of the last: parent, trace id and its checksum, parent
    # id, marks by trace flags. One tuple, for the threads' sake.
    family = (object(), b"", 0, b"", _LOCAL)
    active, unset = 0, None  # when the time of last activity is old; a status
    number_of = _common(data, words)

    def on_start(span, parent_context=None):
        nonlocal family, active
        if not alive[0]:
            return
        try:
            context, parent = span._context, span._parent
            if parent is None:
                trace_id, parent_id, marks = context[0].to_bytes(16, "big"), _NO_PARENT, _LOCAL
                trace_crc = crc32(trace_id)
            else:
                relation = family
                if relation[0] is not parent:
                    relation = family = _related(parent)
                _, trace_id, trace_crc, parent_id, marks = relation
            mark = marks[context[3]]
            if not mark:
                return  # recorded, but sampled out: nobody exports it
            if span._kind is not _INTERNAL:
                mark ^= _KINDS[span._kind._value_]
            try:
                known = thread_of.labels[span._name]
            except (AttributeError, KeyError):
                known = _NO_LABEL
            if known[0] is not span._instrumentation_scope:
                known = learn(span)
            _, label, cut = known
            if cut:
                mark ^= cut
            span_id, start = context[1], span._start_time
            id_bytes = span_id.to_bytes(8, "big")
            try:
                slot = take()
            except IndexError:
                slot = oldest_ended() if ended else None
                if slot is None:  # full of open spans: they are older, and matter more
                    words[_SKIPPED] += 1
                    return
            word, check, place, rest, state = slot
            try:
                _fill(data, place, mark, trace_id, id_bytes, parent_id, start, label, journal._progress)
            except BaseException:
                give(slot)
                raise
            halves[check] = crc32(rest, trace_crc)
            slot[4] = state = state + 4  # the next generation, open
            opened[span_id] = slot
            words[word] = state
            if start > active:
                active = start + _ACTIVITY_STEP
                words[_ACTIVITY] = start
        except _ODD:
            again(on_start, span)

    def learn(span):
        """What spans of this thread, scope and name have in common: scope, label, marks."""
        try:
            labels = thread_of.labels
        except AttributeError:
            labels = thread_of.labels = {}
            thread_of.id = threading.get_native_id()
        name, cut = _spell(span._name)
        label = _label(thread_of.id, number_of(span), len(name), name)
        if len(labels) >= _MAX_LABELS:
            labels.clear()
        known = labels[span._name] = span._instrumentation_scope, label, cut
        return known

    def on_end(span):
        """Forgets a span: for the processor that exports, registered before, it has ended."""
        if not alive[0]:
            return
        try:
            slot = opened.pop(span._context[1], None)
            if slot is not None:
                words[slot[0]] = slot[4] - 1
                give(slot)
        except _ODD:
            again(on_end, span)

    def keep(span):
        """Ends a span that nobody is known to have yet: end, marks, state, in this order."""
        nonlocal unset
        if not alive[0]:
            return
        try:
            span_id = span._context[1]
            slot = opened.pop(span_id, None)
            if slot is None:
                return
            word, check, _, _, state = slot
            words[word + _END] = end = span._end_time
            fold = end ^ end >> 32
            fold = (fold ^ fold >> 16) & 0xFFFF
            fold = (fold ^ fold >> 8) & 0xFF
            if span._status is not unset:
                if span._status.status_code is _UNSET:
                    unset = span._status  # most spans have the same one
                fold ^= span._status.status_code._value_ * 0x0101  # itself, and in the check
            halves[check + 1] ^= fold
            words[word] = state + 1
            ended[span_id] = slot
        except _ODD:
            again(keep, span)

    def keep_late(span):
        try:
            if span._context[1] in opened:
                keep(span)
        except _ODD:
            again(keep, span)

    def again(function, span):
        """Once more, with values that can be written."""
        if type(span) is not _Plain:
            try:
                function(_Plain(span))
            except _ODD:
                pass

    def exported(spans):
        if not alive[0]:
            return
        for span in spans:
            try:
                span_id = span._context[1]
            except _ODD:
                span_id = span.context.span_id
            slot = ended.pop(span_id, None)
            if slot is None:  # arrived before the journal, in the wrong place, heard of its end
                slot = opened.pop(span_id, None)
            if slot is not None:
                words[slot[0]] = slot[4] - 1
                give(slot)

    def oldest_ended():
        """The slot of the span that ended first, for another; None if there is none."""
        for _ in range(8):  # other threads do the same
            while oldest:
                try:
                    slot = ended.pop(oldest.pop(), None)
                except IndexError:
                    break
                if slot is not None:  # else it has been exported meanwhile
                    words[slot[0]] = slot[4] - 1
                    return slot
            try:  # a dictionary is slow to tell its first: some at once
                oldest[:] = list(islice(ended, 64))[::-1]
            except RuntimeError:  # it has changed meanwhile
                pass
        return None

    return on_start, on_end, keep, keep_late, exported


def _free_slots(data, words):
    """What the functions of _writer() need of each free slot, as they need it.

    The number of the state word and that of the checksum's half word, the place of what is
    filled in, the body without the trace id (whose checksum many spans share), and the state
    word of the last open span. Slots that a program before execv has filled are left alone.
    It is a stack: the memory of the slot that was freed last is the warmest.
    """
    first, step, view = _SLOTS // 8, _SLOT_SIZE // 8, memoryview(data)
    return [
        [n, n * 2 + 2, n * 8 + 12, view[n * 8 + 32 : n * 8 + 232], words[n] + 1]
        for n in range(len(words) - step, first - 1, -step)
        if words[n] & 3 == 0
    ]


def _related(parent):
    """What the children of a span have in common."""
    trace_id, parent_id = parent[0].to_bytes(16, "big"), parent[1].to_bytes(8, "big")
    return parent, trace_id, crc32(trace_id), parent_id, _REMOTE if parent[2] else _LOCAL


def _spell(name):
    """The bytes of a name, and the marks of one that was cut."""
    data = name.encode()
    return (data, 0) if len(data) <= _MAX_NAME else (_cut(name, _MAX_NAME), _CUT)


class _Plain:
    """A span with values that can be written, whatever they were, from its public side."""

    def __init__(self, span):
        context, parent, kind = span.context, span.parent, span.kind
        self._context = context.trace_id, context.span_id, False, context.trace_flags & 3
        self._parent = parent and (parent.trace_id, parent.span_id, parent.is_remote)
        self._name = str(span.name).encode("utf-8", "replace").decode()
        self._kind = kind if isinstance(kind, SpanKind) else _INTERNAL
        self._instrumentation_scope, self._resource = span.instrumentation_scope, span.resource
        self._start_time, self._end_time = _integer(span.start_time), _integer(span.end_time)
        self._status = span.status


def _integer(value):
    try:
        return min(max(int(value), -(1 << 63)), (1 << 63) - 1)
    except (ArithmeticError, TypeError, ValueError):
        return 0


def _common(data, words):
    """The function that gives the number of a span's scope in the table, adding what is new.

    0 is for none and for one that there is no room for. It sees the first span, so it writes
    the resource, too.
    """
    known, unused, fresh = {}, [], [True]
    for number in range(_MAX_SCOPES, 0, -1):
        at = _SCOPES + (number - 1) * _SCOPE_SIZE
        word = words[at // 8]
        if word:  # of a program before execv
            name, version = word & 0xFFFF, word >> 16 & 0xFFFF
            text = data[at + 8 : at + 8 + name + version]
            known[text[:name], text[name:]] = number
        else:
            unused.append(number)

    def number_of(span):
        if fresh:
            fresh.clear()
            _write_resource(data, words, span._resource)
        scope = span._instrumentation_scope
        if scope is None:
            return 0
        key = name, version = _cut(scope.name or "", 88), _cut(scope.version or "", 32)
        number = known.get(key, 0)
        if not number and unused and (name or version):
            number = unused.pop()  # another thread may add the same: that costs room only
            at, text = _SCOPES + (number - 1) * _SCOPE_SIZE, name + version
            data[at + 8 : at + 8 + len(text)] = text
            words[at // 8] = crc32(text) << 32 | len(version) << 16 | len(name)
            known[key] = number
        return number

    return number_of


def _write_resource(data, words, resource):
    try:
        attributes = {str(k): _plain(v) for k, v in resource.attributes.items()}
        document = {"attributes": {k: v for k, v in attributes.items() if v is not None}}
        if resource.schema_url:
            document["schema_url"] = resource.schema_url
        text = json.dumps(document, allow_nan=False).encode()
    except _ODD:  # without it the rank's carrier has to do
        return
    word = _RESOURCE // 8
    words[word] = 0
    if len(text) <= _RESOURCE_ROOM:
        data[_RESOURCE + 8 : _RESOURCE + 8 + len(text)] = text
        words[word] = crc32(text) << 32 | len(text)


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


class _Exporter(SpanExporter):
    """An exporter that frees the slots of what has arrived."""

    def __init__(self, exporter, exported):
        self._exporter, self._exported = exporter, exported
        # The SDK looks whether they take a timeout.
        self.shutdown, self.force_flush = exporter.shutdown, exporter.force_flush

    def export(self, spans):
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            try:
                self._exported(spans)
            except _ODD:
                pass
        return result

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
    """Registers a journal with a tracer provider (the global one) and returns it.

    For set-ups that make the provider themselves, as NeMo Lens does: call it after them, and
    before the first span. The exporters of the batch processors that are there are wrapped,
    so that spans survive that have ended and still wait to be exported. Where telemetry is
    off, or this rank is one that does not export, the provider takes no processors, and there
    is nothing to keep.
    """
    journal = journal or JournalSpanProcessor.from_env()
    provider = provider or trace.get_tracer_provider()
    add = getattr(provider, "add_span_processor", None)
    if add is None:
        journal.error = journal.error or OSError("the tracer provider takes no span processors")
        return journal
    if journal._provider is not provider:
        journal._provider = provider
        add(journal)  # first: what is wrapped is to be in the journal
    for holder, name in _exporters(provider):
        setattr(holder, name, journal.wrap(getattr(holder, name)))
    return journal


def _exporters(provider):
    """Where the provider's batch processors keep their exporters.

    The SDK has no way to ask. Where it keeps them elsewhere one day, none is found, and the
    journal keeps only the spans that are open.
    """
    composite = getattr(provider, "_active_span_processor", None)
    for processor in getattr(composite, "_span_processors", ()):
        if isinstance(processor, BatchSpanProcessor):
            inner = getattr(processor, "_batch_processor", None)
            holder, name = (processor, "span_exporter") if inner is None else (inner, "_exporter")
            exporter = getattr(holder, name, None)
            if isinstance(exporter, SpanExporter) and not isinstance(exporter, _Exporter):
                yield holder, name


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
