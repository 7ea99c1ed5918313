package journal

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// ReadOptions is what the caller of Read knows by itself.
type ReadOptions struct {
	// Slots that the journal was made with. 0: as many as the file has room for.
	Slots int

	// Death is when the writer ended: no span started after it. Zero: the writer may
	// be alive, the spans are those of now.
	Death time.Time
}

// again is how often a slot is read once more that a living writer was changing.
const again = 3

// Read reads a journal, at any time, also while it is written. Only the size of what
// was read and the caller's own numbers bound it, never a number in the file, and only
// whole spans come out; the others are counted. The error says what is wrong with the
// file as a whole: a symbolic link, another user's, no journal, another version.
func Read(path string, o ReadOptions) (*Journal, error) {
	f, err := openFile(path, os.O_RDONLY, os.Geteuid())
	if err != nil {
		return nil, fmt.Errorf("cannot read journal %s: %w", path, err)
	}
	defer f.Close()
	j, err := read(f, o)
	if err != nil {
		return nil, fmt.Errorf("cannot read journal %s: %w", path, err)
	}
	return j, nil
}

func read(f io.ReaderAt, o ReadOptions) (*Journal, error) {
	if o.Slots <= 0 || o.Slots > MaxSlots {
		o.Slots = MaxSlots
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, int64(size(o.Slots))))
	if err != nil {
		return nil, err
	}
	return decode(b, o, func(slot []byte, offset int) bool {
		n, err := f.ReadAt(slot, int64(offset))
		return err == nil && n == len(slot)
	})
}

// decode reads a journal from the bytes of its file; reread brings a slot once more.
func decode(b []byte, o ReadOptions, reread func(slot []byte, offset int) bool) (*Journal, error) {
	header, err := decodeHeader(b)
	if err != nil {
		return nil, err
	}
	j := &Journal{Header: header, Clean: le.Uint64(b[offClean:]) == 1, Skipped: le.Uint64(b[offSkipped:])}
	j.Claim, _ = decodeClaim(b)
	j.Death = decodeDeath(b)
	if at := int64(le.Uint64(b[offActivity:])); at > 0 {
		j.LastActivity = time.Unix(0, at)
	}
	j.Resource, j.SchemaURL = decodeResource(b)
	scopes := decodeScopes(b)

	slots := min((len(b)-offSlot)/slotSize, o.Slots)
	j.Missing = max(0, j.Slots-slots)
	alive := o.Death.IsZero()
	for i := range slots {
		slot := b[offSlot+i*slotSize:][:slotSize]
		for try := 0; ; try++ {
			if alive {
				o.Death = time.Now() // of a span that started a moment ago
			}
			span, ok, err := decodeSlot(slot, scopes, o.Death)
			if err != nil && try < again && reread(slot, offSlot+i*slotSize) {
				continue
			}
			if err != nil {
				j.Torn++
			}
			if ok {
				j.Spans = append(j.Spans, span)
			}
			break
		}
	}
	j.Spans = parentsFirst(j.Spans)
	return j, nil
}

// decodeClaim reads who writes the journal; false if nobody does.
func decodeClaim(b []byte) (Claim, bool) {
	if le.Uint64(b[offClaim:]) != claimWord(b) {
		return Claim{}, false
	}
	return Claim{
		PID:   int(le.Uint64(b[offPID:])),
		Ticks: le.Uint64(b[offTicks:]),
		Time:  time.Unix(0, int64(le.Uint64(b[offClaimed:]))),
	}, true
}

// claimWord is what stands behind a claim that is whole.
func claimWord(b []byte) uint64 {
	return 1<<32 | uint64(crc32.ChecksumIEEE(b[offPID:offClaim]))
}
