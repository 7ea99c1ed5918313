package journal

import (
	"errors"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// A slot, by offset.
const (
	slotState  = 0 // generation << 2 | state
	slotCRC    = 8 // of slotBody..slotEnd
	slotMarks  = 12
	slotBody   = 16
	slotTrace  = 16
	slotSpan   = 32
	slotParent = 40
	slotStart  = 48
	slotThread = 56
	slotScope  = 60
	slotNameN  = 62
	slotName   = 64
	maxName    = 152
	slotStep   = 216
	slotEpoch  = 224
	slotEnd    = 232
)

// States of a slot, the low two bits of its state word.
const (
	stateFree  = 0
	stateOpen  = 1
	stateEnded = 2 // but not yet exported
	stateMask  = 3
)

// Flags beside those of W3C trace context, which are the low bits.
const (
	flagNameCut      = 0x40
	flagParentRemote = 0x80
	flagsOfTrace     = 0x03
)

// marks are what stands outside the CRC beside the end: one 32-bit word with its
// check in the low byte, so that a span can be ended with three stores. The check is
// the exclusive or of all these bytes and 0x5a: zeros do not pass.
func marks(status, kind, flags uint8, end uint64) uint32 {
	end ^= end >> 32
	end ^= end >> 16
	check := uint8(end^end>>8) ^ status ^ kind ^ flags ^ 0x5a
	return uint32(check) | uint32(status)<<8 | uint32(kind)<<16 | uint32(flags)<<24
}

// What fills a slot writes in place: a copy would cost as much again.

func fillIDs(slot []byte, traceID *trace.TraceID, id, parent *trace.SpanID) {
	copy(slot[slotTrace:slotSpan], traceID[:])
	copy(slot[slotSpan:slotParent], id[:])
	copy(slot[slotParent:slotStart], parent[:])
}

// fillName takes a name that has been cut.
func fillName(slot []byte, name string) {
	n := copy(slot[slotName:slotStep], name)
	clear(slot[slotName+n : slotStep])
	le.PutUint16(slot[slotNameN:], uint16(n))
}

func fillNumbers(slot []byte, start uint64, thread uint32, scope int, step, epoch int64) {
	le.PutUint64(slot[slotStart:], start)
	le.PutUint32(slot[slotThread:], thread)
	le.PutUint16(slot[slotScope:], uint16(scope))
	le.PutUint64(slot[slotStep:], uint64(step))
	le.PutUint64(slot[slotEpoch:], uint64(epoch))
}

// errTorn says that a slot in use holds no whole span.
var errTorn = errors.New("torn slot")

// decodeSlot reads one slot of slotSize bytes. ok is false for a free one.
func decodeSlot(b []byte, scopes []Scope, death time.Time) (s Span, ok bool, err error) {
	state := le.Uint64(b[slotState:]) & stateMask
	if state == stateFree {
		return Span{}, false, nil
	}
	n := int(le.Uint16(b[slotNameN:]))
	if state > stateEnded || le.Uint32(b[slotCRC:]) != bodyCRC(b) || n > maxName {
		return Span{}, false, errTorn
	}
	s = Span{
		Name:   string(b[slotName : slotName+n]),
		Start:  time.Unix(0, int64(le.Uint64(b[slotStart:]))),
		Thread: le.Uint32(b[slotThread:]),
		Step:   int64(le.Uint64(b[slotStep:])),
		Epoch:  int64(le.Uint64(b[slotEpoch:])),
	}
	copy(s.TraceID[:], b[slotTrace:])
	copy(s.SpanID[:], b[slotSpan:])
	copy(s.Parent[:], b[slotParent:])
	if i := int(le.Uint16(b[slotScope:])); i >= 1 && i <= len(scopes) {
		s.Scope = scopes[i-1]
	}
	if !s.readMarks(le.Uint32(b[slotMarks:]), le.Uint64(b[slotEnd:]), state) || !s.plausible(death) {
		return Span{}, false, errTorn
	}
	return s, true, nil
}

// readMarks checks and takes over what stands outside the CRC. An open span may be
// just about to be ended: its end, or end and marks, are written, its state is not.
func (s *Span) readMarks(word uint32, end uint64, state uint64) bool {
	status, kind, flags := uint8(word>>8), uint8(word>>16), uint8(word>>24)
	if status > 2 || kind > uint8(trace.SpanKindConsumer) {
		return false
	}
	switch {
	case word == marks(status, kind, flags, end):
	case state == stateOpen && word == marks(0, kind, flags, 0):
	default:
		return false
	}
	s.Kind = trace.SpanKind(kind)
	s.TraceFlags = trace.TraceFlags(flags & flagsOfTrace)
	s.ParentRemote = flags&flagParentRemote != 0
	s.NameCut = flags&flagNameCut != 0
	if state == stateEnded {
		s.End = time.Unix(0, int64(end))
		s.Status = [...]codes.Code{codes.Unset, codes.Ok, codes.Error}[status]
	}
	return true
}

// plausible is what no checksum says: ids that are some, text that is text, and times
// that can have been.
func (s *Span) plausible(death time.Time) bool {
	return s.TraceID.IsValid() && s.SpanID.IsValid() && utf8.ValidString(s.Name) &&
		s.Start.UnixNano() >= 0 && !s.Start.After(death) && (s.Open() || s.End.UnixNano() > 0)
}

// otlpStatus is the number that a status has in the file, which is OTLP's.
func otlpStatus(c codes.Code) uint8 {
	switch c {
	case codes.Ok:
		return 1
	case codes.Error:
		return 2
	}
	return 0
}
