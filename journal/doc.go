// Package journal keeps the names, ids and times of a process's open spans in a small
// file that survives the process. A worker that is killed loses its open spans, the
// ones that say what it was doing: the SDK exports a span only when it ends. Whoever
// outlives the worker reads them here.
//
//	launcher  Create ---------------------------------------> file <------- Read, at any time
//	worker        FromEnv -> Writer, a span processor: maps the file and writes to it
//
// One file per process, mapped shared by exactly one writer. The kernel's page cache
// keeps what was written when the writer is killed, at any instruction; a machine that
// loses power may lose it. The layout, little-endian, described with an example in
// docs/journal-format.md:
//
//	    0  launcher: magic, version, slot size and count, attempt, rank, run id, creation, CRC
//	 2048  worker: claim (pid, start of the process, time), clean shutdown, spans without a
//	       slot, last activity; launcher again: time and reason of its death
//	 4096  resource of the worker, as JSON
//	16384  32 entries of 128 bytes: instrumentation scopes
//	20480  slots of 256 bytes, 1,024 by default:
//	         0 state word: generation << 2 | {0 free, 1 open, 2 ended, not yet exported}
//	         8 CRC-32 of 16..231    12 check, status, kind, flags
//	        16 trace id   32 span id   40 parent   48 start   56 thread   60 scope   62 name length
//	        64 name   216 step   224 epoch   232 end   240 reserved
//
// A slot's state word is written last, in one store of 8 bytes: a kill at any moment
// leaves either no span or a whole one. What is behind a length is written before it.
//
// In a worker, beside the processor that exports:
//
//	j := journal.FromEnv()
//	provider := trace.NewTracerProvider(
//		trace.WithSpanProcessor(j),                // first
//		trace.WithBatcher(j.Wrap(exporter)))       // then
//
// With Wrap, spans that ended but were not exported yet come out too; without it, the
// Writer is registered after the processor that exports, and only open spans do. In
// both ways an open span comes out once, and an ended one at least once.
//
// Promise: the writer has no locks and never blocks, never fails and is never noticed
// by the program. It adds a third to what the SDK's own work for a span costs: at most 200
// ns where that is 500, and with Wrap 250 (BenchmarkAdded). A reader trusts no number in the
// file for a bound, and any bytes whatsoever give whole spans or a clear error.
//
// What it does not keep: attributes, events, links and the description of a status. When
// all slots hold open spans, new ones are counted and skipped. It exports nothing and
// knows nothing of the launcher. It writes and reads on Linux only, and only on
// little-endian machines; nobody may truncate a file that is in use.
//
// Source: the journal specification, version 1 of the format.
package journal
