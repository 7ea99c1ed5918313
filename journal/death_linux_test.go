package journal

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestBury(t *testing.T) {
	path := made(t, 4)
	if d := mustRead(t, path).Death; d != (Death{}) {
		t.Errorf("before: %+v", d)
	}
	at := time.Unix(0, 1_700_000_000_123_456_789)
	for _, reason := range []string{"rank 3 killed by SIGKILL (out of memory)", "", "second\xff", strings.Repeat("é", 1000)} {
		if err := Bury(path, Death{At: at, Reason: reason}); err != nil {
			t.Fatal(err)
		}
		d := mustRead(t, path).Death
		if !d.At.Equal(at) || d.Reason != cut(reason, 1024) {
			t.Errorf("%q: %+v", reason, d)
		}
	}
}

// Every byte of it counts: what is not whole is not there.
func TestBuryTorn(t *testing.T) {
	path := made(t, 1)
	if err := Bury(path, Death{At: time.Unix(5, 0), Reason: "gone"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := offDeath; at < offDeathEnd; at++ {
		b[at] ^= 0x40
		if d := decodeDeath(b); d != (Death{}) {
			t.Fatalf("byte %d changed: %+v", at, d)
		}
		b[at] ^= 0x40
	}
}

// A length is not believed because a checksum agrees with it.
func TestDeathOfAnyLength(t *testing.T) {
	for _, n := range []uint64{offDeathEnd - offDeathText + 1, offSlot, 1 << 31, 1 << 63, 1<<64 - 1} {
		b := image(t)
		le.PutUint64(b[offDeathAt:], 5)
		le.PutUint64(b[offDeathLen:], n)
		le.PutUint64(b[offDeath:], deathWord(b[offDeathAt:offDeathEnd]))
		if d := decodeDeath(b); d != (Death{}) {
			t.Errorf("%d: %+v", n, d)
		}
	}
}

func TestBuryRefuses(t *testing.T) {
	path := t.TempDir() + "/x"
	if err := os.WriteFile(path, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, path + "/missing"} {
		if err := Bury(path, Death{}); err == nil || !strings.Contains(err.Error(), "cannot write journal "+path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
