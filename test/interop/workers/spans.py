"""A worker with a span journal, without the launcher. argv: what it does.

It prints one line of JSON for the test, waits for its stdin to end, and is killed instead.
"""

import ctypes
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/python"))

import lenslaunch_journal
from lenslaunch_journal import JournalSpanProcessor
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult


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
    journal = JournalSpanProcessor.from_env()
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


globals()[sys.argv[1]]()
