"""A worker with a span journal, without the launcher. argv: what it does.

It prints one line of JSON for the test, waits for its stdin to end, and is killed instead.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/python"))

import lenslaunch_journal
from lenslaunch_journal import JournalSpanProcessor
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult


class Memory(SpanExporter):
    """Takes what it is given, if the test wants it to."""

    def __init__(self, result=SpanExportResult.SUCCESS):
        self.result, self.names = result, []

    def export(self, spans):
        self.names += [span.name for span in spans]
        return self.result


def told(span):
    """A span as the SDK knows it, in the words of the Go reader."""
    context, parent, scope = span.context, span.parent, span.instrumentation_scope
    return {
        "trace": format(context.trace_id, "032x"),
        "span": format(context.span_id, "016x"),
        "parent": format(parent.span_id if parent else 0, "016x"),
        "remote": bool(parent and parent.is_remote),
        "name": span.name,
        "kind": span.kind.value + 1,
        "scope": scope.name,
        "version": scope.version or "",
        "start": span.start_time,
        "end": span.end_time or 0,
        "status": span.status.status_code.value,
        "thread": threading.get_native_id(),
    }


def wait(**facts):
    print(json.dumps(facts), flush=True)
    sys.stdin.read()


def provider_of(*processors):
    attributes = {"service.name": "ä", "i": 1, "f": 1.0, "b": True, "list": ["a", "b"], "big": [1, 2]}
    provider = TracerProvider(resource=Resource(attributes), shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


def content():
    """Every kind of span that there is, open and ended."""
    journal = JournalSpanProcessor.from_env()
    provider = provider_of(journal, BatchSpanProcessor(journal.wrap(Memory(SpanExportResult.FAILURE))))
    tracer = provider.get_tracer("scope ä", "1.2")
    lenslaunch_journal.attach_parent()
    journal.step, journal.epoch = 7, -2
    spans = []
    with tracer.start_as_current_span("outer") as outer:
        spans.append(outer)
        for i, kind in enumerate(trace.SpanKind):
            span = tracer.start_span(f"kind {kind.name}", kind=kind)
            span.set_status([trace.StatusCode.OK, trace.StatusCode.ERROR, trace.StatusCode.UNSET][i % 3])
            spans.append(span)
            if i != 1:
                span.end()
        spans.append(provider.get_tracer("another").start_span("é" * 100))
        spans.append(tracer.start_span("\udcff surrogate"))
        spans.append(tracer.start_span(""))
        provider.force_flush()
        wait(spans=[told(span) for span in spans])


def wrapped():
    """Spans that arrived are gone, those that did not are there; a full table."""
    journal = JournalSpanProcessor.from_env()
    memory = Memory()
    provider = provider_of(journal, BatchSpanProcessor(journal.wrap(memory), schedule_delay_millis=60_000))
    tracer = provider.get_tracer("x")
    open_spans = [tracer.start_span("open 0")]
    for i in range(500):
        tracer.start_span(f"arrived {i}").end()
    provider.force_flush()
    arrived = len(memory.names)
    for i in range(40):  # of 16 slots
        tracer.start_span(f"waiting {i}").end()
    open_spans += [tracer.start_span(f"open {i}") for i in range(1, 18)]
    wait(arrived=arrived, open=len(open_spans))


def children():
    """A data loader that forks, one that C code forks, a program that inherits the variable."""
    journal = JournalSpanProcessor.from_env()
    tracer = provider_of(journal).get_tracer("x")
    again = JournalSpanProcessor.from_env()
    with tracer.start_as_current_span("outer") as outer:
        for fork in os.fork, lambda: ctypes.PyDLL(None).fork():
            pid = fork()
            if pid == 0:
                tracer.start_span("in the child")
                JournalSpanProcessor.from_env().on_start(outer)
                outer.end()
                os._exit(0)
            os.waitpid(pid, 0)
        code = "import lenslaunch_journal as j; print(j.JournalSpanProcessor.from_env().error)"
        path = os.path.dirname(lenslaunch_journal.__file__)
        said = subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
        tracer.start_span("inner")
        wait(child=said.decode().strip(), again=str(again.error))


def execv():
    """The journal after execv: what was open is there, and it goes on."""
    tracer = provider_of(JournalSpanProcessor.from_env()).get_tracer("before")
    tracer.start_span("before")
    os.execv(sys.executable, [sys.executable, __file__, "after_execv"])


def after_execv():
    journal = JournalSpanProcessor(sys.argv[2]) if sys.argv[2:] else JournalSpanProcessor.from_env()
    tracer = provider_of(journal).get_tracer("after")
    tracer.start_span("after")
    wait(error=str(journal.error))


def shut_down():
    journal = JournalSpanProcessor.from_env()
    provider = provider_of(BatchSpanProcessor(Memory()), journal)
    tracer = provider.get_tracer("x")
    span, late = tracer.start_span("open"), tracer.start_span("late")
    provider.shutdown()
    late.end()
    wait(open=told(span))


def nothing():
    """What is no journal is none; the program does not notice."""
    errors = []
    for path in sys.argv[2:]:
        os.environ[lenslaunch_journal.VARIABLE] = path
        journal = JournalSpanProcessor.from_env()
        exporter = Memory()
        assert path and journal.wrap(exporter) is exporter
        provider = provider_of(journal)
        provider.get_tracer("x").start_span("x").end()
        provider.shutdown()
        errors.append(str(journal.error))
    del os.environ[lenslaunch_journal.VARIABLE]
    assert JournalSpanProcessor.from_env().error is None
    wait(errors=errors)


def churn():
    """Threads that start and end spans as fast as they can, until the process is killed."""
    journal = JournalSpanProcessor.from_env()
    provider = provider_of(journal, BatchSpanProcessor(journal.wrap(Memory()), schedule_delay_millis=1))
    tracer = provider.get_tracer("x")
    outer = tracer.start_span("outer")
    parent = trace.set_span_in_context(outer)

    def work():
        while True:
            inner = tracer.start_span("inner", parent)
            child = tracer.start_span(
                "child of " + format(inner.context.span_id, "016x"), trace.set_span_in_context(inner)
            )
            child.end()
            inner.end()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    wait(outer=told(outer))


class Loaded:
    """A data set whose items are read in child processes, with spans of their own."""

    def __init__(self, tracer=None):
        self.tracer = tracer

    def __len__(self):
        return 40

    def __getitem__(self, i):
        own = JournalSpanProcessor.from_env()  # as a program that sets itself up in each process
        tracers = [provider_of(own).get_tracer("own"), self.tracer or trace.get_tracer("none")]
        for tracer in tracers:
            with tracer.start_as_current_span(f"item {i}"):
                pass
            tracer.start_span(f"never ended {i}")
        return str(own.error)


def loaders():
    """Data loaders that fork, one of them in a thread, and spawn, beside spans that go on."""
    from torch.utils.data import DataLoader

    journal = JournalSpanProcessor.from_env()
    provider = provider_of(BatchSpanProcessor(journal.wrap(Memory(SpanExportResult.FAILURE))), journal)
    tracer = provider.get_tracer("x")
    errors = set()

    def load(how, traced):
        for batch in DataLoader(Loaded(traced), num_workers=2, multiprocessing_context=how):
            errors.update(batch)
            tracer.start_span("waiting").end()

    with tracer.start_as_current_span("outer"):
        load("fork", tracer)
        threads = [threading.Thread(target=load, args=("fork", tracer)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(500):
            tracer.start_span("waiting").end()
        for thread in threads:
            thread.join()
        load("spawn", None)
        tracer.start_span("inner")
        wait(errors=sorted(errors))


class Foreign:
    """A span that has only what is public, and values that no SDK would give it."""

    instrumentation_scope, parent, kind, end_time = None, None, None, 5
    status = trace.Status(trace.StatusCode.ERROR)
    resource = Resource({})

    def __init__(self, number, name, start_time=1, flags=1, **others):
        self.context = trace.SpanContext(1, number, False, trace.TraceFlags(flags))
        self.name, self.start_time = name, start_time
        vars(self).update(others)


def odd():
    """Spans of other makes, spans with odd values, exceptions that are the program's."""
    journal = JournalSpanProcessor.from_env()
    exporter = journal.wrap(Memory())
    remote = trace.SpanContext(1, 9, True)
    spans = [
        Foreign(1, "plain"),
        Foreign(2, 5),
        Foreign(3, "time", start_time=1.5, end_time=2.5),
        Foreign(4, "flags", flags=0x101),
        Foreign(5, "unsampled", flags=2),
        Foreign(6, "kind", kind=trace.SpanKind.SERVER, parent=remote),
    ]
    journal.step, journal.epoch = "no number", 3.9
    for span in spans:
        journal.on_start(span)
    journal.on_start(object())  # no span at all
    journal.on_end(object())
    for span in spans[:3]:
        journal.on_end(span)
    assert exporter.export([spans[0]]) is SpanExportResult.SUCCESS

    class Alarm:
        """A number in which a signal arrives whose handler raises."""

        def __index__(self):
            raise TimeoutError

    tracer = provider_of(journal).get_tracer("x")
    raised = 0
    for _ in range(20):  # more than there are slots
        try:
            tracer.start_span("interrupted", start_time=Alarm())
        except TimeoutError:
            raised += 1
    wait(raised=raised == 20)


class Fifties(SpanProcessor):
    """Exports fifty spans at a time, without a lock that a signal's handler could meet."""

    def __init__(self, exporter):
        self.exporter, self.spans = exporter, []

    def on_end(self, span):
        self.spans.append(span)
        if len(self.spans) >= 50:
            spans, self.spans = self.spans, []
            self.exporter.export(spans)


def signals():
    """Handlers of signals that start spans, everywhere in the middle of others."""
    journal = JournalSpanProcessor.from_env()
    tracer = provider_of(journal, Fifties(journal.wrap(Memory()))).get_tracer("x")
    count = 0

    def handle(*_):
        nonlocal count
        count += 1
        with tracer.start_as_current_span("in a handler"):
            tracer.start_span(f"inner of a handler {count}").end()
        signal.setitimer(signal.ITIMER_REAL, 0.0005)  # never one within another

    signal.signal(signal.SIGALRM, handle)
    outer = tracer.start_span("outer")  # before: the SDK has locks for its first span
    tracer.start_span("step 0", trace.set_span_in_context(outer)).end()
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    i = 0
    while count < 500:
        i += 1
        tracer.start_span(f"step {i}").end()
    signal.setitimer(signal.ITIMER_REAL, 0)
    wait(outer=told(outer))


def installed():
    """What install() does with providers of different kinds."""

    class Slow(BatchSpanProcessor):
        pass

    said = {}
    os.environ[lenslaunch_journal.VARIABLE], path = "", os.environ[lenslaunch_journal.VARIABLE]
    said["none"] = str(lenslaunch_journal.install(provider=provider_of()).error)
    os.environ[lenslaunch_journal.VARIABLE] = path
    journal = JournalSpanProcessor.from_env()
    said["proxy"] = str(lenslaunch_journal.install(journal).error)  # no provider is set yet
    journal.error, memory, slow = None, Memory(), Memory(SpanExportResult.FAILURE)
    provider = provider_of(SimpleSpanProcessor(memory), Slow(slow))
    trace.set_tracer_provider(provider)
    for _ in range(2):  # a second time wraps nothing again
        assert lenslaunch_journal.install(journal) is journal
    said["installed"] = str(journal.error)
    tracer = trace.get_tracer("x")
    tracer.start_span("open")
    tracer.start_span("waiting").end()
    provider.force_flush()
    slow.result = SpanExportResult.SUCCESS
    tracer.start_span("arrived").end()
    provider.force_flush()
    assert memory.names == ["waiting", "arrived"] == slow.names
    wait(**said)


if __name__ == "__main__":  # and not in a process that a data loader spawns
    globals()[sys.argv[1]]()
