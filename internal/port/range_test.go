package port

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRange(t *testing.T) {
	for _, test := range []struct {
		text string
		want Range
	}{
		{"20000-29999", Range{20000, 29999}},
		{"1-65535", Range{1, 65535}},
		{"29500", Range{29500, 29500}},
		{" 29500 - 29502 ", Range{29500, 29502}},
	} {
		got, err := ParseRange(test.text)
		if err != nil || got != test.want {
			t.Errorf("ParseRange(%q) = %v, %v; want %v", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{
		"", "-", "a-b", "0-10", "10-9", "1-65536", "-5-10", "20000-", "-29999", "+1-2", "0x50-0x60", "1-2-3", "1.5-2", "20000:29999", "99999999999999999999-2",
	} {
		got, err := ParseRange(text)
		if err == nil {
			t.Errorf("ParseRange(%q) = %v, want an error", text, got)
			continue
		}
		// The line is shown as it is: it must hold the input and a good example.
		if !strings.Contains(err.Error(), `"`+text+`"`) || !strings.Contains(err.Error(), "20000-29999") {
			t.Errorf("ParseRange(%q): %v", text, err)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, seed := range []string{"20000-29999", "29500", "1-", "-1", "65536-65537", " 1 - 2 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRange(text)
		if err != nil {
			return
		}
		if r.check() != nil {
			t.Fatalf("ParseRange(%q) = %v", text, r)
		}
		if again, err := ParseRange(r.String()); err != nil || again != r {
			t.Fatalf("ParseRange(%q) = %v, and its text gives %v, %v", text, r, again, err)
		}
	})
}

func TestRangeParts(t *testing.T) {
	r := Range{100, 199}
	for _, test := range []struct {
		name        string
		other       Range
		minus, both []Range
	}{
		{"below", Range{1, 99}, []Range{r}, nil},
		{"above", Range{200, 300}, []Range{r}, nil},
		{"nothing", Range{0, 0}, []Range{r}, nil},
		{"all", Range{1, 65535}, nil, []Range{r}},
		{"itself", r, nil, []Range{r}},
		{"lower part", Range{1, 149}, []Range{{150, 199}}, []Range{{100, 149}}},
		{"upper part", Range{150, 65535}, []Range{{100, 149}}, []Range{{150, 199}}},
		{"middle", Range{120, 129}, []Range{{100, 119}, {130, 199}}, []Range{{120, 129}}},
		{"first port", Range{100, 100}, []Range{{101, 199}}, []Range{{100, 100}}},
		{"last port", Range{199, 199}, []Range{{100, 198}}, []Range{{199, 199}}},
	} {
		if diff := cmp.Diff(test.minus, r.minus(test.other)); diff != "" {
			t.Errorf("%s: minus (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.both, r.and(test.other)); diff != "" {
			t.Errorf("%s: and (-want +got):\n%s", test.name, diff)
		}
	}
	if !r.Contains(100) || !r.Contains(199) || r.Contains(99) || r.Contains(200) || r.Size() != 100 {
		t.Errorf("Contains or Size is wrong for %v", r)
	}
}
