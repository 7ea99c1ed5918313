package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

const (
	testJob  = "6ba7b811-9dad-51d1-80b4-00c04fd430c8"
	testFile = testJob + ".json"
)

// nextTest counts as inside a Slurm job that was never requeued.
func nextTest(h History) (Attempt, error) {
	a, err := Next(h, Inputs{Slurm: true, Execution: "0"})
	a.UUID = testUUID(a.Execution, a.Number)
	return a, err
}

// testUUID derives a UUID as the launcher does: from execution and number.
func testUUID(execution string, number int64) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "test/sr%s/te%d", execution, number)).String()
}

// mustOpen opens the test job's ledger.
func mustOpen(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir, testFile)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustRead(t *testing.T, l *Ledger) History {
	t.Helper()
	h, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustBegin(t *testing.T, l *Ledger) Attempt {
	t.Helper()
	a, err := l.Begin(context.Background(), nextTest)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// testTime is a moment for made-up attempts.
var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
