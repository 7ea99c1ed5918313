package carrier_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name            string
		text            string
		require, forbid []string
		want            carrier.Report
		line            string
	}{
		{
			name: "nothing asked of nothing",
			line: "ok",
		},
		{
			name:    "all well",
			text:    "b=2,a=1",
			require: []string{"a", "b"},
			forbid:  []string{"c"},
			line:    "ok",
		},
		{
			name:    "missing in the order of the question",
			text:    "b=2",
			require: []string{"c", "b", "a"},
			want:    carrier.Report{Missing: []string{"c", "a"}},
			line:    "missing: c, a",
		},
		{
			name:    "present ones in the order of the carrier",
			text:    "z=,y=,x=1,w=1",
			require: []string{"y", "z"},
			forbid:  []string{"w", "x"},
			want:    carrier.Report{Empty: []string{"z", "y"}, Forbidden: []string{"x", "w"}},
			line:    "empty: z, y; forbidden: x, w",
		},
		{
			name: "an empty value that nobody requires is a value",
			text: "a=",
			line: "ok",
		},
		{
			name:    "a space is a value once it is escaped",
			text:    "a=%20,b= ",
			require: []string{"a", "b"},
			want:    carrier.Report{Empty: []string{"b"}},
			line:    "empty: b",
		},
		{
			name:    "the last value decides",
			text:    "a=,b=1,a=2,b=",
			require: []string{"a", "b"},
			want:    carrier.Report{Empty: []string{"b"}, Duplicate: []string{"a", "b"}},
			line:    "empty: b; duplicate: a, b",
		},
		{
			name: "duplicates where they repeat, once each",
			text: "a=1,b=1, b =2,a=2,b=3,c=1,c",
			want: carrier.Report{Duplicate: []string{"b", "a"}},
			line: "duplicate: b, a",
		},
		{
			name:   "an empty forbidden key is there",
			text:   "process.pid=",
			forbid: []string{"process.pid"},
			want:   carrier.Report{Forbidden: []string{"process.pid"}},
			line:   "forbidden: process.pid",
		},
		{
			name:    "segments that do not count are not there",
			text:    "a,=1,%62=2",
			require: []string{"a", "b"},
			want:    carrier.Report{Missing: []string{"a", "b"}},
			line:    "missing: a, b",
		},
		{
			name:    "questions are trimmed and asked once",
			text:    "a=1",
			require: []string{" a", "b", "b ", "", " "},
			forbid:  []string{"\ta", "a"},
			want:    carrier.Report{Missing: []string{"b"}, Forbidden: []string{"a"}},
			line:    "missing: b; forbidden: a",
		},
		{
			name: "a key that would break the line is quoted",
			text: "a\x1b[2J=1,a\x1b[2J=2",
			want: carrier.Report{Duplicate: []string{"a\x1b[2J"}},
			line: `duplicate: "a\x1b[2J"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := carrier.Check(tc.text, tc.require, tc.forbid)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if got.OK() != (tc.line == "ok") {
				t.Errorf("OK() = %v", got.OK())
			}
			if got.String() != tc.line {
				t.Errorf("String() = %q, want %q", got.String(), tc.line)
			}
		})
	}
}
