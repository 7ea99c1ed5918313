package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"time"
)

// Death is what is known of a writer's end. Whoever saw it writes it into the journal, so
// that it is not lost where the spans cannot be exported at once.
type Death struct {
	At     time.Time
	Reason string // "rank 3 killed by SIGKILL"; at most 1,024 bytes are kept
}

// Bury enters a writer's end in its journal, and gives back the room of what is free in it.
// The writer must have gone.
func Bury(path string, d Death) error {
	f, err := openFile(path, os.O_RDWR, os.Geteuid())
	if err != nil {
		return fmt.Errorf("cannot write journal %s: %w", path, err)
	}
	if err = bury(f, d); err != nil {
		err = fmt.Errorf("cannot write journal %s: %w", path, err)
	} else {
		thin(f)
	}
	return errors.Join(err, f.Close())
}

// bury writes the check last, and never beyond the first page.
func bury(f *os.File, d Death) error {
	head := make([]byte, offSlot)
	if _, err := f.ReadAt(head, 0); err != nil {
		return errNoJournal
	}
	if _, err := decodeHeader(head); err != nil {
		return err
	}
	b := make([]byte, offDeathEnd-offDeathAt)
	le.PutUint64(b, uint64(d.At.UnixNano()))
	n := copy(b[offDeathText-offDeathAt:], cut(d.Reason, offDeathEnd-offDeathText))
	le.PutUint64(b[offDeathLen-offDeathAt:], uint64(n))
	if _, err := f.WriteAt(b, offDeathAt); err != nil {
		return err
	}
	_, err := f.WriteAt(le.AppendUint64(nil, deathWord(b)), offDeath)
	return err
}

// decodeDeath reads what Bury wrote; the zero value if nobody has or it is not whole.
func decodeDeath(b []byte) Death {
	part := b[offDeathAt:offDeathEnd]
	n := le.Uint64(b[offDeathLen:])
	if le.Uint64(b[offDeath:]) != deathWord(part) || n > offDeathEnd-offDeathText {
		return Death{}
	}
	return Death{
		At:     time.Unix(0, int64(le.Uint64(part))),
		Reason: cut(string(b[offDeathText:][:n]), int(n)),
	}
}

func deathWord(part []byte) uint64 { return 1<<32 | uint64(crc32.ChecksumIEEE(part)) }
