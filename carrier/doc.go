// Package carrier reads, writes and publishes resource attributes in the
// environment variable OTEL_RESOURCE_ATTRIBUTES, the only channel that survives
// fork and exec.
//
// Its promise is byte equality: for the same input the output is what NeMo Lens
// (Python) writes, because one job mixes processes of both. The rules of text
// that look odd here (white space, malformed escapes, the text of a float) are
// Python's, and are tested against it.
//
//	text --Parse--> list --semconv.Compose--> list --Format--> text
//	                                            |
//	                                  Set, Publish: the environment
//
// Lists are ordered and have unique keys; see package semconv. Parsing never
// fails and never infers a type: every value is a string until the caller picks
// a table of types for it.
//
// The environment belongs to the whole process, so publication is serialized:
//
//	goroutine A   Publish ─┬─ fn: start child ─┬─ restore
//	goroutine B      waits └─────── waits ─────┴─ Publish ─── fn ─── restore
//
// One publication is open at a time; another goroutine waits for its turn. A
// publication inside a publication is written through the [Scope] handle, and
// ends before the outer one. A goroutine that nests in any other way gets an
// error; one that was started inside a scope waits for its turn like any other.
//
// What it does not do: it merges nothing implicitly (a resolved list is published
// as it is), and it cannot stop code that calls os.Setenv by itself.
//
// Sources: the seed document on resource detection and the carrier
// specification; the vectors of every rule are read by test/vectors.
package carrier
