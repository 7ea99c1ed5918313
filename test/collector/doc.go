// Package collector runs a real OpenTelemetry Collector for tests and is the judge of
// what arrived: it returns what the Collector's own file exporter wrote.
//
//	OTLP over gRPC or HTTP -> [ Collector: otlp receiver -> file exporter ] -> pipe -> Traces, Metrics
//
// The Collector is a process of its own, built by tools/collector, on ports that the
// kernel chose. The exporter's files are pipes, so that a test can wait for what
// arrives instead of looking at a file again and again.
//
// Promise: a Collector is ready when [Start] returns, and has gone when the test ends.
// [Collector.Traces] stops it first, so nothing is on its way any more. It batches,
// samples and changes nothing.
//
// What it does not do: it builds no Collector (the make target does, and says where it
// is in the variable [Variable]), and has no TLS. The Collector's otlpjsonfile receiver
// is not in it; [ReadFile] sends the lines of a file to the otlp receiver, which has
// the same decoder.
//
// Source: issue 5, "Prove it, with real parts".
package collector
