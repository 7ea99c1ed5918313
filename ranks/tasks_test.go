package ranks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTasksPerNodeVectors(t *testing.T) {
	for _, v := range readVectors(t).TasksPerNode {
		got, err := TasksPerNode(v.In)
		if v.Counts == nil {
			if err == nil {
				t.Errorf("TasksPerNode(%q) = %v, want an error", v.In, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("TasksPerNode(%q): %v", v.In, err)
		}
		if diff := cmp.Diff(*v.Counts, got); diff != "" {
			t.Errorf("TasksPerNode(%q) (-want +got):\n%s", v.In, diff)
		}
	}
}

func TestTasksPerNodeErrors(t *testing.T) {
	for _, test := range []struct {
		in, want string
	}{
		{"", `cannot read tasks per node "" at its end: expected a number of tasks, 1 or more`},
		{"2,", `cannot read tasks per node "2," at its end: expected a number of tasks, 1 or more`},
		{"2,,1", `cannot read tasks per node "2,,1" at byte 2 (",1"): expected a number of tasks, 1 or more`},
		{"1,0", `cannot read tasks per node "1,0" at byte 2 ("0"): expected a number of tasks, 1 or more`},
		{"+1", `cannot read tasks per node "+1" at byte 0 ("+1"): expected a number of tasks, 1 or more`},
		{"4294967296", `cannot read tasks per node "4294967296" at byte 0 ("4294967296"): expected a number of tasks, 1 or more`},
		{"1 2", `cannot read tasks per node "1 2" at byte 1 (" 2"): expected ',' or a repetition such as (x2)`},
		{"3,2(x", `cannot read tasks per node "3,2(x" at byte 3 ("(x"): expected ',' or a repetition such as (x2)`},
		{"2(3)", `cannot read tasks per node "2(3)" at byte 1 ("(3)"): expected ',' or a repetition such as (x2)`},
		{"2(x0)", `cannot read tasks per node "2(x0)" at byte 3 ("0)"): expected a number of nodes, 1 or more`},
		{"2(x 2)", `cannot read tasks per node "2(x 2)" at byte 3 (" 2)"): expected a number of nodes, 1 or more`},
		{"2(x65537)", `cannot read tasks per node "2(x65537)" at byte 0 ("2(x65537)"): the list names more than 65536 nodes`},
		{"1(x65536),1", `cannot read tasks per node "1(x65536),1" at byte 10 ("1"): the list names more than 65536 nodes`},
	} {
		counts, err := TasksPerNode(test.in)
		if err == nil || err.Error() != test.want || counts != nil {
			t.Errorf("TasksPerNode(%q)\n got %v, %v\nwant %s", test.in, counts, err, test.want)
		}
	}
}

func TestTasksPerNodeIsBounded(t *testing.T) {
	if counts, err := TasksPerNode("8(x65536)"); err != nil || len(counts) != MaxHosts {
		t.Errorf("the largest list: %d nodes, %v", len(counts), err)
	}
	if counts, err := TasksPerNode(strings.Repeat("1(x65536),", 1000) + "1"); err == nil {
		t.Errorf("a thousand full repetitions: %d nodes, want an error", len(counts))
	}
}

func FuzzTasksPerNode(f *testing.F) {
	for _, v := range readVectors(f).TasksPerNode {
		f.Add(v.In)
	}
	f.Add("1(x65536),1(x65536)")
	f.Fuzz(func(t *testing.T, text string) {
		counts, err := TasksPerNode(text)
		if err != nil {
			checkListError(t, text, err)
			if counts != nil {
				t.Fatalf("counts beside an error: %d", len(counts))
			}
			return
		}
		if len(counts) == 0 || len(counts) > MaxHosts {
			t.Fatalf("%d nodes", len(counts))
		}
		for _, n := range counts {
			if n < 1 {
				t.Fatalf("%d tasks", n)
			}
		}
	})
}
