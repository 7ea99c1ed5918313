// Package telemetry runs the real launcher beside a real OpenTelemetry Collector, which
// is the judge of what arrived.
//
// It shows that the launcher's spans arrive as the telemetry specification says, over
// each protocol; that what the launcher writes into a file is what a Collector reads
// from it; and that a Collector which is not there, does not answer, is slow, dies or
// has no room costs a job nothing but the spans: the same exit code, at most two
// seconds, and one warning with the number of spans that were lost.
//
// Source: issue 5, "Prove it, with real parts".
package telemetry
