package rundir

import (
	"fmt"
	"strings"
	"testing"
)

// longRun has so many attempts with so many ranks each.
func longRun(attempts, ranks int) *Run {
	r := &Run{Schema: Schema, Attempts: []AttemptRecord{}}
	for n := range attempts {
		a := AttemptRecord{
			Name: fmt.Sprintf("attempt-%d", n), Began: testTime, Ended: testTime, Outcome: OutcomeFailed,
			Cause: &CauseRecord{Rank: 1, Message: strings.Repeat("m", 3000), Stderr: []string{"s"}}, Failed: make([]int, 40), Warnings: []string{"w"},
		}
		for rank := range ranks {
			a.Ranks = append(a.Ranks, RankRecord{Rank: rank})
		}
		r.Attempts = append(r.Attempts, a)
	}
	return r
}

func TestTrim(t *testing.T) {
	tests := []struct{ attempts, ranks, left, dropped, whole int }{
		{0, 0, 0, 0, 0},
		{1, keepRanks * 2, 1, 0, 1}, // the newest in any case
		{2, keepRanks, 2, 0, 1},
		{2, keepRanks / 2, 2, 0, 2},
		{30, 512, 30, 0, keepRanks / 512},
		{keepWhole + 5, 2, keepWhole + 5, 0, keepWhole},
		{keepAttempts + 7, 2, keepAttempts, 7, keepWhole},
	}
	for _, tt := range tests {
		r := longRun(tt.attempts, tt.ranks)
		for range 2 { // the second time changes nothing
			r.trim()
		}
		whole := 0
		for i, a := range r.Attempts {
			if !a.Trimmed {
				whole++
				if len(a.Ranks) != tt.ranks || len(a.Cause.Message) != 3000 || i < len(r.Attempts)-tt.whole {
					t.Errorf("%+v: attempt %s is said to be whole", tt, a.Name)
				}
				continue
			}
			if len(a.Ranks) != 0 || a.Cause.Stderr != nil || len(a.Cause.Message) != keepMessage+len(cutMark) || len(a.Failed) != 16 || a.Cause.Rank != 1 {
				t.Errorf("%+v: attempt %s was trimmed to %+v", tt, a.Name, a)
			}
		}
		wantEqual(t, fmt.Sprintf("left, dropped, whole of %+v", tt), []int{len(r.Attempts), r.Dropped, whole}, []int{tt.left, tt.dropped, tt.whole})
	}
}

// Numbers go on after attempts were dropped.
func TestTrimmedNumbers(t *testing.T) {
	r := longRun(keepAttempts+7, 1)
	r.trim()
	wantEqual(t, "next", r.next(), int64(keepAttempts+7))
}

// A job that restarts for weeks does not spend its time on its record.
func TestFileIsBounded(t *testing.T) {
	r := longRun(keepAttempts+7, 10)
	for i := range r.Attempts {
		r.Attempts[i].Cause.Message = strings.Repeat("\x1b", maxMessage)
	}
	r.trim()
	text, err := encodeRun(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxRunSize/4 {
		t.Errorf("it has %d bytes", len(text))
	}
}
