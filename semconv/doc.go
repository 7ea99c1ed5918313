// Package semconv is the one place that knows the attribute names of a job:
// what they are called, what type each resource attribute has, and how ordered
// lists of them are composed and converted.
//
// An attribute list is a []attribute.KeyValue with unique keys whose order
// means something: it is the order in which the carrier writes them. Setting a
// key that is present keeps its place, a new key goes to the end, so order
// never depends on the iteration of a map. A value of type [attribute.EMPTY]
// is null: the key is known, the value is not there (Python's None).
//
// What it does not do: the text format of OTEL_RESOURCE_ATTRIBUTES belongs to
// package carrier, and that codec never infers a type. Reconstruction is always
// a separate step with a table that the caller chose ([Convert], [Normalize]).
// Names that one project alone uses (Megatron-LM's, say), the metric series of
// the rl namespace, and the launcher's own span names are not here either.
// Upstream names beyond those of the table come from the OpenTelemetry module.
//
// Which kind of thing a new name is: a value that is fixed for the process is a
// resource attribute, a category of one operation is a span attribute, a value
// that varies over time is a metric. Nothing unbounded (a pid, a uuid, a path)
// may be an attribute of a metric.
//
// Sources: the seed document on semantic conventions and the semantic
// conventions specification; testdata/semconv.csv lists every attribute.
package semconv
