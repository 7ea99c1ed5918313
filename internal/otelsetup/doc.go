// Package otelsetup connects the launcher's spans to where the standard OTEL_*
// variables say, and is the only place that imports exporters.
//
// The way of a span:
//
//	tracer -> journal -> shutdown.OpenSpans -> gate -> batch processor -> counter -> OTLP, console, file
//	          (should    (ends what is open    (never blocks the          (own resource, valid
//	           we die)    at the end)           launcher: drops, counts)   UTF-8, counts, can be
//	                                                                       told to give up)
//
// Spans of another process that has gone ([Telemetry.Export]) go to the same exporter,
// with their own resource, and are given back if they do not arrive. Metrics have an
// exporter of their own, by the same rules.
//
// Promise: telemetry never changes a job. Setup returns no error; what is wrong
// with the configuration is one warning, and telemetry goes to the run directory's files
// or is off. A file has everything, also beside a collector that hangs. During the run a
// slow or dead collector costs nothing but the spans: memory is bounded by the
// queue. [Telemetry.Shutdown] takes at most the timeout in all, and if spans
// were lost it says so in one warning with their number. When telemetry is off
// the tracer is a no-op and nothing runs.
//
// Variables, read from the environment that is passed in, a TRACES_ or METRICS_ form
// before the general one: OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER,
// NEMO_LENS_ENABLED, OTEL_BSP_SCHEDULE_DELAY, OTEL_EXPORTER_OTLP_[TRACES_|METRICS_]ENDPOINT, _PROTOCOL, _HEADERS,
// _COMPRESSION, _TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY;
// TRACEPARENT and TRACESTATE by [Parent]. The SDK itself reads from the process:
// OTEL_METRIC_EXPORT_INTERVAL and _TIMEOUT, OTEL_TRACES_SAMPLER and _ARG, OTEL_BSP_EXPORT_TIMEOUT,
// OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, the limits OTEL_SPAN_*, OTEL_EVENT_* and OTEL_LINK_*, and
// compression where it is set there and not in the environment passed.
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME describe the workload: they do
// not reach the launcher's resource.
//
// With a run directory and no other place for it, telemetry goes to files there.
//
// What it does not do: it makes no spans and knows no resource of its own. It sets the SDK's process-wide error handler and logger,
// which would print, to silent ones.
//
// Source: the telemetry specification, "Where it goes" and its measured facts.
package otelsetup
