package journal

import (
	"hash/crc32"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Room in an entry of the scope table: 8 bytes of CRC << 32 | version length << 16 |
// name length, then name and version.
const (
	maxScopeName    = 88
	maxScopeVersion = 32
)

// encodeScope is the text of an entry and the word that is written after it.
func encodeScope(s Scope) (text []byte, word uint64) {
	name, version := cut(s.Name, maxScopeName), cut(s.Version, maxScopeVersion)
	text = []byte(name + version)
	return text, uint64(crc32.ChecksumIEEE(text))<<32 | uint64(len(version))<<16 | uint64(len(name))
}

// decodeScopes reads the table from the whole file. An entry that is damaged or was
// never finished is an empty scope: the entries after it keep their numbers.
func decodeScopes(b []byte) []Scope {
	scopes := make([]Scope, maxScopes)
	for i := range scopes {
		entry := b[offScopes+i*scopeSize:][:scopeSize]
		word := le.Uint64(entry)
		n, v := int(uint16(word)), int(uint16(word>>16))
		if n > maxScopeName || v > maxScopeVersion || crc32.ChecksumIEEE(entry[8:8+n+v]) != uint32(word>>32) {
			continue
		}
		scopes[i].Name = strings.ToValidUTF8(string(entry[8:8+n]), "\uFFFD")
		scopes[i].Version = strings.ToValidUTF8(string(entry[8+n:8+n+v]), "\uFFFD")
	}
	return scopes
}

// scopeTable numbers the scopes of a writer: 1 is the first entry of the table in the
// file, 0 a scope for which there was no room.
type scopeTable struct {
	used    atomic.Int32
	known   atomic.Pointer[[]numbered]
	tracers atomic.Pointer[[]tracerScope]
}

// maxTracers is how many tracers are known by address: what is known is never forgotten,
// and a program may make any number.
const maxTracers = 32

// tracerScope is a tracer, which has one scope for life, by its address, and the scope's
// number. The address is a pointer so that no other tracer ever has it.
type tracerScope struct {
	tracer unsafe.Pointer
	number int
}

// ofTracer is the number of a tracer's scope, if it is known.
func (t *scopeTable) ofTracer(tracer unsafe.Pointer) (number int, ok bool) {
	if known := t.tracers.Load(); known != nil {
		for _, k := range *known {
			if k.tracer == tracer {
				return k.number, true
			}
		}
	}
	return 0, false
}

// remember lets ofTracer know a tracer. If another goroutine adds one at the same moment,
// this one's turn comes with its next span.
func (t *scopeTable) remember(tracer unsafe.Pointer, number int) {
	known := t.tracers.Load()
	longer := []tracerScope{{tracer, number}}
	if known != nil {
		if len(*known) >= maxTracers {
			return
		}
		longer = append(slices.Clone(*known), longer...)
	}
	t.tracers.CompareAndSwap(known, &longer)
}

// numberOf finds or adds the scope of a span.
func (t *scopeTable) numberOf(data []byte, s sdktrace.ReadOnlySpan) int {
	scope := s.InstrumentationScope()
	return t.number(data, scope.Name, scope.Version)
}

type numbered struct {
	Scope
	number int
}

// load takes over what is in the table already, after execve.
func (t *scopeTable) load(data []byte) {
	known := []numbered{}
	for i, s := range decodeScopes(data) {
		if le.Uint64(data[offScopes+i*scopeSize:]) != 0 {
			known = append(known, numbered{s, i + 1})
			t.used.Store(int32(i + 1))
		}
	}
	t.known.Store(&known)
}

// number finds a scope or adds it. Two goroutines that add the same one at the same
// moment use two entries, which costs nothing but room.
func (t *scopeTable) number(data []byte, name, version string) int {
	known := t.known.Load()
	for _, k := range *known {
		if k.Name == name && k.Version == version {
			return k.number
		}
	}
	s := Scope{name, version}
	if s == (Scope{}) || t.used.Load() >= maxScopes {
		return 0
	}
	number := int(t.used.Add(1))
	if number > maxScopes {
		return 0
	}
	text, word := encodeScope(s)
	at := offScopes + (number-1)*scopeSize
	copy(data[at+8:at+scopeSize], text)
	word64(data, at).Store(word)
	for {
		longer := append(slices.Clone(*known), numbered{s, number})
		if t.known.CompareAndSwap(known, &longer) {
			return number
		}
		known = t.known.Load()
	}
}
