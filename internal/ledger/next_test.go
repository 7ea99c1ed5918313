package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func n(v int64) *int64 { return &v }

// play begins attempts one after the other and returns "sr/te" of each, with
// "-" for a restart count that is not published.
func play(t *testing.T, h History, inputs ...Inputs) []string {
	t.Helper()
	var got []string
	for i, in := range inputs {
		a, err := Next(h, in)
		if err != nil {
			t.Fatal(err)
		}
		a.UUID, a.Began = testUUID(fmt.Sprint(i, in.Execution), a.Number), testTime
		h = h.with(a)
		if err := h.check(); err != nil {
			t.Fatalf("after %v: %v", got, err)
		}
		count := "-"
		if a.RestartCount != nil {
			count = fmt.Sprint(*a.RestartCount)
		}
		got = append(got, fmt.Sprintf("%s/%d", count, a.Number))
	}
	return got
}

func times(count int, in Inputs) []Inputs {
	var all []Inputs
	for range count {
		all = append(all, in)
	}
	return all
}

func TestNext(t *testing.T) {
	base2 := Inputs{Carrier: n(2), Slurm: true, Execution: "0"}
	requeued := Inputs{Carrier: n(2), Scheduler: n(3), Slurm: true, Execution: "3"}
	for _, test := range []struct {
		name   string
		inputs []Inputs
		want   []string
	}{
		{"example of the identity specification: 2, 3, 4; 5; 6",
			append(times(4, base2), requeued),
			[]string{"2/0", "3/1", "4/2", "5/3", "6/0"}},
		{"the same with the scheduler's number as base",
			append(times(4, Inputs{Scheduler: n(2), Slurm: true, Execution: "2"}), Inputs{Scheduler: n(3), Slurm: true, Execution: "3"}),
			[]string{"2/0", "3/1", "4/2", "5/3", "6/0"}},
		{"0 is published in a Slurm job that was never requeued",
			times(2, Inputs{Slurm: true}), []string{"0/0", "1/1"}},
		{"the scheduler overtakes",
			[]Inputs{{Slurm: true, Execution: "0"}, {Scheduler: n(7), Slurm: true, Execution: "7"}, {Scheduler: n(7), Slurm: true, Execution: "7"}},
			[]string{"0/0", "7/0", "8/1"}},
		{"the larger of carrier and scheduler",
			[]Inputs{{Carrier: n(4), Scheduler: n(1), Slurm: true}, {Carrier: n(1), Scheduler: n(9), Slurm: true}},
			[]string{"4/0", "9/1"}},
		{"a carrier that falls behind does not lower the count",
			[]Inputs{{Carrier: n(9), Slurm: true}, {Carrier: n(2), Slurm: true}},
			[]string{"9/0", "10/1"}},
		{"steps of one allocation count attempts each for itself",
			[]Inputs{{Slurm: true, Execution: "0/st1"}, {Slurm: true, Execution: "0/st2"}, {Slurm: true, Execution: "0/st1"}},
			[]string{"0/0", "1/0", "2/1"}},
		{"what is declared does not count in Slurm",
			[]Inputs{{Slurm: true, Declared: n(5)}}, []string{"0/0"}},
		{"outside Slurm: one execution, nothing published",
			times(3, Inputs{}), []string{"-/0", "-/1", "-/2"}},
		{"outside Slurm: inherited",
			times(2, Inputs{Carrier: n(2)}), []string{"2/0", "3/1"}},
		{"outside Slurm: declared is where the number starts",
			times(2, Inputs{Declared: n(3)}), []string{"3/3", "4/4"}},
		{"outside Slurm: declared overtakes, then falls behind",
			[]Inputs{{Declared: n(0)}, {Declared: n(4)}, {Declared: n(1)}},
			[]string{"0/0", "4/4", "5/5"}},
		{"outside Slurm: carrier above what is declared",
			[]Inputs{{Carrier: n(6), Declared: n(1)}}, []string{"6/1"}},
		{"outside Slurm: published for a while only",
			[]Inputs{{Carrier: n(1)}, {}, {Carrier: n(1)}}, []string{"1/0", "-/1", "2/2"}},
		{"outside Slurm: a stray SLURM_RESTART_COUNT publishes nothing",
			[]Inputs{{Scheduler: n(3)}}, []string{"-/0"}},
		{"no count below 0",
			[]Inputs{{Carrier: n(-5), Scheduler: n(-1), Slurm: true}, {Carrier: n(-5), Slurm: true}},
			[]string{"0/0", "1/1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, play(t, History{}, test.inputs...)); diff != "" {
				t.Errorf("restart count/attempt number (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextDoesNotChangeTheHistory(t *testing.T) {
	h := History{Attempts: []Attempt{{Number: 0, RestartCount: n(2), UUID: testUUID("0", 0), Began: testTime}}}
	if _, err := Next(h, Inputs{Slurm: true}); err != nil {
		t.Fatal(err)
	}
	want := History{Attempts: []Attempt{{Number: 0, RestartCount: n(2), UUID: testUUID("0", 0), Began: testTime}}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestNextAtTheLargestNumber(t *testing.T) {
	largest := History{Attempts: []Attempt{{Number: 3, RestartCount: n(math.MaxInt64)}}}
	if _, err := Next(largest, Inputs{Slurm: true}); !errors.Is(err, errExhausted) {
		t.Errorf("after the largest restart count: %v", err)
	}
	if got, err := Next(largest, Inputs{}); err != nil || got.Number != 4 {
		t.Errorf("where none is published it does not matter: %+v, %v", got, err)
	}
	if _, err := Next(History{}, Inputs{Declared: n(math.MaxInt64)}); !errors.Is(err, errExhausted) {
		t.Errorf("largest attempt number: %v", err)
	}
	if got := play(t, History{}, Inputs{Carrier: n(math.MaxInt64 - 1), Slurm: true}, Inputs{Slurm: true}); got[1] != fmt.Sprintf("%d/1", math.MaxInt64) {
		t.Errorf("just below: %v", got)
	}
}

func TestUncoordinated(t *testing.T) {
	for _, test := range []struct {
		name string
		in   Inputs
		want Attempt
	}{
		{"static hosts", Inputs{}, Attempt{}},
		{"step of several nodes", Inputs{Slurm: true, Execution: "0/st2"}, Attempt{RestartCount: n(0), Execution: "0/st2"}},
		{"requeued", Inputs{Slurm: true, Scheduler: n(3), Carrier: n(5)}, Attempt{RestartCount: n(5)}},
		{"declared in Slurm", Inputs{Slurm: true, Declared: n(4), Scheduler: n(1)}, Attempt{Number: 4, RestartCount: n(1)}},
		{"JobSet", Inputs{Declared: n(4)}, Attempt{Number: 4, RestartCount: n(4)}},
		{"inherited", Inputs{Carrier: n(7)}, Attempt{RestartCount: n(7)}},
		{"inherited and declared", Inputs{Carrier: n(7), Declared: n(4)}, Attempt{Number: 4, RestartCount: n(7)}},
	} {
		if diff := cmp.Diff(test.want, Uncoordinated(test.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Whatever the environment says from one attempt to the next: restart counts
// strictly increase, are never below the scheduler's, no (execution, number)
// and no (restart count, number) comes twice.
func TestNextInvariants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	maybe := func() *int64 {
		if random.IntN(3) == 0 {
			return nil
		}
		return n(random.Int64N(12) - 2)
	}
	for range 300 {
		var h History
		slurm := random.IntN(2) == 0
		seen := map[string]bool{}
		last := int64(-1)
		for range 40 {
			in := Inputs{Carrier: maybe(), Scheduler: maybe(), Declared: maybe(), Slurm: slurm}
			if slurm {
				in.Execution = fmt.Sprint(random.IntN(4))
			}
			a, err := Next(h, in)
			if err != nil {
				t.Fatal(err)
			}
			a.UUID, a.Began = testUUID(in.Execution, a.Number), testTime
			keys := []string{fmt.Sprint("te ", in.Execution, " ", a.Number)}
			if a.RestartCount != nil {
				if *a.RestartCount <= last || *a.RestartCount < count(in.Scheduler) {
					t.Fatalf("restart count %d after %d, scheduler %d", *a.RestartCount, last, count(in.Scheduler))
				}
				last = *a.RestartCount
				keys = append(keys, fmt.Sprint("sr ", *a.RestartCount, " ", a.Number))
			} else if slurm {
				t.Fatal("not published in Slurm")
			}
			for _, key := range keys {
				if seen[key] {
					t.Fatalf("%s is there twice", key)
				}
				seen[key] = true
			}
			h = h.with(a)
			if err := h.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
