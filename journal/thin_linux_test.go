package journal

import (
	"context"
	"os"
	"reflect"
	"syscall"
	"testing"
	"time"
)

// room is what a file takes on the disk, in bytes.
func room(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// The journal of a rank that died with a few spans open waits for its exporter in a tenth
// of the room, and says the same. It took a quarter of a megabyte for each rank and restart.
func TestBuriedJournalIsSmall(t *testing.T) {
	live := made(t, DefaultSlots)
	w := opened(t, live)
	tracer := tracerOf(t, w)
	churn(tracer, 10_000) // every slot was used
	ctx, _ := tracer.Start(context.Background(), "train")
	tracer.Start(ctx, "step")
	before, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	dead := write(t, before)
	want := mustRead(t, dead)
	want.Death = Death{At: time.Unix(5, 0), Reason: "gone"}
	for _, path := range []string{dead, live} {
		if err := Bury(path, want.Death); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustRead(t, dead); !reflect.DeepEqual(want, got) {
		t.Errorf("before %+v\nafter %+v", want, got)
	}
	if most := int64(len(before) / 5); room(t, dead) > most {
		t.Errorf("it takes %d bytes of the disk, want at most %d", room(t, dead), most)
	}
	// A writer that lives could be killed by SIGBUS for want of room.
	if room(t, live) < int64(len(before)) {
		t.Errorf("the journal that is in use takes %d of %d bytes", room(t, live), len(before))
	}
}
