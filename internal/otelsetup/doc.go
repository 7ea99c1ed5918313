// Package otelsetup connects the launcher's spans to where the standard OTEL_*
// variables say, and is the only place that imports exporters.
//
// The way of a span:
//
//	tracer -> shutdown.OpenSpans -> gate -> batch processor -> counter -> OTLP or console
//	          (ends what is open    (never blocks the          (own resource, valid
//	           at the end)           launcher: drops, counts)   UTF-8, counts, can be
//	                                                            told to give up)
//
// Promise: telemetry never changes a job. Setup returns no error; what is wrong
// with the configuration is one warning and telemetry is off. During the run a
// slow or dead collector costs nothing but the spans: memory is bounded by the
// queue. [Telemetry.Shutdown] takes at most the timeout in all, and if spans
// were lost it says so in one warning with their number. When telemetry is off
// the tracer is a no-op and nothing runs.
//
// Variables, read from the environment that is passed in, a TRACES_ form before
// the general one: OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER, NEMO_LENS_ENABLED,
// OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT, _PROTOCOL, _HEADERS, _COMPRESSION,
// _TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY. The SDK itself
// reads from the process: OTEL_TRACES_SAMPLER and _ARG, OTEL_BSP_SCHEDULE_DELAY
// and _EXPORT_TIMEOUT, the limits OTEL_SPAN_*, OTEL_EVENT_* and OTEL_LINK_*, and
// compression where it is set there and not in the environment passed.
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME describe the workload: they do
// not reach the launcher's resource.
//
// What it does not do: it makes no spans, knows no resource of its own, and has
// no file exporter. It sets the SDK's process-wide error handler and logger,
// which would print, to silent ones.
//
// Source: the telemetry specification, "Where it goes" and its measured facts.
package otelsetup
