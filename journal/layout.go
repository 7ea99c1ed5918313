package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"
)

// Version is the only version of the format that this package knows.
const Version = 1

// Slots of a journal: one for each span that is open at the same time. With the
// default a file has 276 KiB.
const (
	DefaultSlots = 1024
	MaxSlots     = 4096
)

// Variable is the environment variable with which a worker gets the path of its
// journal.
const Variable = "LENSLAUNCH_SPAN_JOURNAL"

// The parts of the file, by offset. docs/journal-format.md describes them.
const (
	magic = "LLSPANJ\n"

	offVersion  = 8
	offSlotSize = 12
	offSlots    = 16
	offAttempt  = 20
	offRank     = 24
	offRunIDLen = 28
	offCreated  = 32
	offRunID    = 40
	maxRunID    = 256
	offCRC      = offRunID + maxRunID // of all before it

	offPID      = 2048
	offTicks    = 2056
	offClaimed  = 2064
	offClaim    = 2072 // written last: 1 << 32 | CRC of offPID..offClaim
	offClean    = 2080
	offSkipped  = 2088
	offActivity = 2096

	offDeath     = 2104 // written last: 1 << 32 | CRC of offDeathAt..offDeathEnd
	offDeathAt   = 2112
	offDeathLen  = 2120
	offDeathText = 2128
	offDeathEnd  = offDeathText + 1024

	offResource = 4096 // CRC << 32 | length, then the JSON
	maxResource = offScopes - offResource - 8

	offScopes = 16384
	scopeSize = 128
	maxScopes = 32

	offSlot  = 20480
	slotSize = 256
)

// size is that of a journal with so many slots, in bytes.
func size(slots int) int { return offSlot + slots*slotSize }

// Header is what the launcher writes when it makes a journal.
type Header struct {
	RunID   string // at most 256 bytes are kept
	Attempt int
	Rank    int
	Slots   int       // 0: DefaultSlots
	Created time.Time // zero: now
}

var le = binary.LittleEndian

// checked fills in the defaults and refuses what the format cannot hold.
func (h Header) checked() (Header, error) {
	if h.Slots == 0 {
		h.Slots = DefaultSlots
	}
	if h.Created.IsZero() {
		h.Created = time.Now()
	}
	if h.Slots < 1 || h.Slots > MaxSlots {
		return h, fmt.Errorf("%d slots: a journal has 1 to %d", h.Slots, MaxSlots)
	}
	if h.Attempt < 0 || h.Rank < 0 || int64(h.Attempt) > 1<<32-1 || int64(h.Rank) > 1<<32-1 {
		return h, fmt.Errorf("attempt %d or rank %d has no place in 32 bits", h.Attempt, h.Rank)
	}
	return h, nil
}

// encode is the launcher's part of the first page.
func (h Header) encode() []byte {
	b := make([]byte, offCRC+4)
	copy(b, magic)
	le.PutUint32(b[offVersion:], Version)
	le.PutUint32(b[offSlotSize:], slotSize)
	le.PutUint32(b[offSlots:], uint32(h.Slots))
	le.PutUint32(b[offAttempt:], uint32(h.Attempt))
	le.PutUint32(b[offRank:], uint32(h.Rank))
	le.PutUint16(b[offRunIDLen:], uint16(copy(b[offRunID:], cut(h.RunID, maxRunID))))
	le.PutUint64(b[offCreated:], uint64(h.Created.UnixNano()))
	le.PutUint32(b[offCRC:], crc32.ChecksumIEEE(b[:offCRC]))
	return b
}

// errNoJournal says that a file is something else.
var errNoJournal = errors.New("it is no span journal")

// decodeHeader reads the launcher's part. Its slot count is information: a reader
// takes the bounds from the size of what it has read.
func decodeHeader(b []byte) (Header, error) {
	if len(b) < offSlot || !bytes.HasPrefix(b, []byte(magic)) {
		return Header{}, errNoJournal
	}
	if v := le.Uint32(b[offVersion:]); v != Version {
		return Header{}, fmt.Errorf("it has version %d of the format, this program knows version %d", v, Version)
	}
	n := int(le.Uint16(b[offRunIDLen:]))
	if le.Uint32(b[offCRC:]) != crc32.ChecksumIEEE(b[:offCRC]) || le.Uint32(b[offSlotSize:]) != slotSize || n > maxRunID {
		return Header{}, errors.New("its first page is damaged")
	}
	return Header{
		RunID:   strings.ToValidUTF8(string(b[offRunID:offRunID+n]), "\uFFFD"),
		Attempt: int(le.Uint32(b[offAttempt:])),
		Rank:    int(le.Uint32(b[offRank:])),
		Slots:   int(min(le.Uint32(b[offSlots:]), MaxSlots)),
		Created: time.Unix(0, int64(le.Uint64(b[offCreated:]))),
	}, nil
}

// cut makes text valid UTF-8 of at most n bytes, cut on a character boundary.
func cut(text string, n int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
