package placement

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseCPUList(t *testing.T) {
	tests := []struct {
		text string
		want CPUList
		back string
	}{
		{"", nil, ""},
		{"\n", nil, ""},
		{"0\n", CPUList{0}, "0"},
		{"0-3,8", CPUList{0, 1, 2, 3, 8}, "0-3,8"},
		{"0,1", CPUList{0, 1}, "0-1"},
		{"8,0-3", CPUList{0, 1, 2, 3, 8}, "0-3,8"},
		{"0-3,2-5,4", CPUList{0, 1, 2, 3, 4, 5}, "0-5"},
		{"0-9,3-4", CPUList{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "0-9"},
		{"7-7", CPUList{7}, "7"},
		{"\t0,2,4 \n", CPUList{0, 2, 4}, "0,2,4"},
		{"16383", CPUList{16383}, "16383"},
	}
	for _, tt := range tests {
		got, err := ParseCPUList(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		if got.String() != tt.back {
			t.Errorf("%q comes back as %q, want %q", tt.text, got, tt.back)
		}
	}
}

func TestParseCPUListFails(t *testing.T) {
	for text, want := range map[string]string{
		"x": `"x" is no number`, "0,": `"" is no number`, ",": `"" is no number`, "0-": `"" is no number`,
		"-1": `"" is no number`, "3-1": "runs backwards", "0-4294967295": `"4294967295" is no number`,
		"0-16384": "16384 is more than 16383", "0-10:2/4": `"10:2/4" is no number`, "0 - 3": `"0 " is no number`,
		"+1": `"+1" is no number`, "0x3": `"0x3" is no number`, "1,,2": `"" is no number`,
	} {
		got, err := ParseCPUList(text)
		if err == nil || got != nil {
			t.Errorf("%q is %v, no error", text, got)
		} else if s := err.Error(); !strings.HasPrefix(s, "cannot read the list of CPUs ") || !strings.Contains(s, want) {
			t.Errorf("%q: error %q, want %q in it", text, s, want)
		}
	}
}

func TestSets(t *testing.T) {
	a, b := list(t, "0-3,8"), list(t, "2-9")
	if diff := cmp.Diff(CPUList{2, 3, 8}, a.and(b)); diff != "" {
		t.Errorf("and (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(list(t, "0-9"), union(a, b, nil)); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(list(t, "0-3,8"), a); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if a.Has(4) || !a.Has(8) || CPUList(nil).Has(0) {
		t.Error("Has is wrong")
	}
}

func FuzzParseCPUList(f *testing.F) {
	for _, seed := range []string{"", "0", "0-3,8", "3-1", "0-16383", "0-99999", "5,4,3,2-9,1\n", ",", "-", "0-1-2", "1:2/3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseCPUList(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00\x1b") {
				t.Errorf("the error is no line: %q", err)
			}
			return
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || len(got) > maxCPU+1 {
			t.Fatalf("%q is %v", text, got)
		}
		again, err := ParseCPUList(got.String())
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%q comes back as %q: %v\n%s", text, got, err, diff)
		}
	})
}
