// Package otlpfile writes spans to a file as OTLP/JSON, one export request in each line, as
// the OpenTelemetry Collector's file exporter does and as its otlpjsonfile receiver reads
// them: where nobody collects, the file can be sent later. A request of more than 1 MiB,
// which is what that receiver takes for one line, becomes several.
//
// [File] is a client for the OTLP exporter (it has the methods of otlptrace.Client), so
// spans are put together by the same code as for a collector, and spans on behalf of
// another process come out as they are given.
//
// Promise: mode 0600, whatever the umask; no symbolic link is followed. A line is whole or
// not there: what a full disk left of one is taken back, and what a killed process left of
// one is cut off when the file is opened again. A file that holds something else is refused
// and stays as it is. The file never grows beyond its limit. Who has the file's lock for
// long, or has removed the file, makes an upload fail and holds nobody up.
// What could not be written is an error for the caller and is counted.
//
// What it does not do: it rotates nothing and removes nothing, keeps nothing in memory, and
// does not sync; the kernel has a line when UploadTraces returns. Several processes may
// append to one file: each line is written under the file's lock, where the file system
// has locks. A write to a file system that hangs cannot be given up, so the caller must
// not wait for it without a bound.
//
// The protobuf library's own JSON is not OTLP's: there, ids are lower-case hexadecimal
// instead of base64, and enums numbers instead of names.
//
// Source: the telemetry specification, "Where it goes"; the OTLP specification, "JSON
// Protobuf Encoding".
package otlpfile
