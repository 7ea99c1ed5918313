package ranks

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// vectors are the shared ones; null in the file is an error.
type vectors struct {
	Hostlist []struct {
		In    string    `json:"in"`
		Hosts *[]string `json:"hosts"`
	} `json:"hostlist"`
	TasksPerNode []struct {
		In     string `json:"in"`
		Counts *[]int `json:"counts"`
	} `json:"tasks_per_node"`
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/hostlist.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Hostlist) == 0 || len(v.TasksPerNode) == 0 {
		t.Fatal("testdata/hostlist.json holds no vectors")
	}
	return v
}

func TestHostlistVectors(t *testing.T) {
	for _, v := range readVectors(t).Hostlist {
		got, err := Hostlist(v.In)
		if v.Hosts == nil {
			if err == nil {
				t.Errorf("Hostlist(%q) = %q, want an error", v.In, clip(strings.Join(got, " "), 80))
			}
			continue
		}
		if err != nil {
			t.Errorf("Hostlist(%q): %v", v.In, err)
		}
		if diff := cmp.Diff(*v.Hosts, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Hostlist(%q) (-want +got):\n%s", v.In, diff)
		}
	}
}

func TestHostlistBeyondTheVectors(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []string
	}{
		{" \t\n, ,", nil},
		{"[1-2]", []string{"1", "2"}},
		{"n[01-3]", []string{"n01", "n02", "n03"}},
		{"n[099-101]", []string{"n099", "n100", "n101"}},
		{"n1\tn[2]\nn3", []string{"n1", "n2", "n3"}},
		{"n[18446744073709551614-18446744073709551615]", []string{"n18446744073709551614", "n18446744073709551615"}},
		// Four brackets: loops 3, 2, 1 from outside in, and the last innermost.
		{"a[0-1]b[0-1]c[0-1]d[0-1]", []string{
			"a0b0c0d0", "a0b0c0d1", "a1b0c0d0", "a1b0c0d1", "a0b1c0d0", "a0b1c0d1", "a1b1c0d0", "a1b1c0d1",
			"a0b0c1d0", "a0b0c1d1", "a1b0c1d0", "a1b0c1d1", "a0b1c1d0", "a0b1c1d1", "a1b1c1d0", "a1b1c1d1",
		}},
	} {
		got, err := Hostlist(test.in)
		if err != nil {
			t.Errorf("Hostlist(%q): %v", test.in, err)
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Hostlist(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

// An error names the text, the byte and the problem: whoever reads it has a long
// list before them and no other clue.
func TestHostlistErrors(t *testing.T) {
	for _, test := range []struct {
		in, want string
	}{
		{"n[3-1]", `cannot read host list "n[3-1]" at byte 2 ("3-1]"): the range runs backwards`},
		{"n[1", `cannot read host list "n[1" at byte 1 ("[1"): this '[' is never closed`},
		{"n[", `cannot read host list "n[" at byte 1 ("["): this '[' is never closed`},
		{"n[1-", `cannot read host list "n[1-" at byte 1 ("[1-"): this '[' is never closed`},
		{"n[]", `cannot read host list "n[]" at byte 2 ("]"): expected a number`},
		{"ok,n[1-]", `cannot read host list "ok,n[1-]" at byte 7 ("]"): expected a number`},
		{"n[-1]", `cannot read host list "n[-1]" at byte 2 ("-1]"): expected a number`},
		{"n[1-2-3]", `cannot read host list "n[1-2-3]" at byte 5 ("-3]"): expected ',', '-' or ']' after a number`},
		{"n[1, 2]", `cannot read host list "n[1, 2]" at byte 4 (" 2]"): expected a number`},
		{"n1,n2],n3", `cannot read host list "n1,n2],n3" at byte 5 ("],n3"): a ']' without its '['`},
		{"n{1..3}", `cannot read host list "n{1..3}" at byte 1 ("{1..3}"): '{' cannot stand in a host name`},
		{"n1,höst", `cannot read host list "n1,höst" at byte 4 ("öst"): 'ö' cannot stand in a host name`},
		{"n[18446744073709551616]", `cannot read host list "n[18446744073709551616]" at byte 2 ("1844674407370955..."): the number does not fit 64 bits`},
		{"n[0-18446744073709551615]", `cannot read host list "n[0-18446744073709551615]" at byte 2 ("0-18446744073709..."): the range names more than 65536 hosts`},
		{"n[1-65536],m", `cannot read host list "n[1-65536],m" at byte 11 ("m"): the list names more than 65536 hosts`},
		{"n[1-257][1-256]", `cannot read host list "n[1-257][1-256]" at byte 0 ("n[1-257][1-256]"): the list names more than 65536 hosts`},
		{"n[1-40000,1-40000]", `cannot read host list "n[1-40000,1-40000]" at byte 10 ("1-40000]"): the range names more than 65536 hosts`},
	} {
		hosts, err := Hostlist(test.in)
		if err == nil || err.Error() != test.want || hosts != nil {
			t.Errorf("Hostlist(%q)\n got %q, %v\nwant %s", test.in, hosts, err, test.want)
		}
		var list *ListError
		if !errors.As(err, &list) || list.Text != test.in || list.Offset > len(test.in) {
			t.Errorf("Hostlist(%q): %#v is not a ListError of the text", test.in, err)
		}
	}
}

// A few bytes must not be able to ask for gigabytes.
func TestHostlistIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxHostName)
	for name, text := range map[string]string{
		"product of many brackets": strings.Repeat("[0-65535]", 200),
		"long name":                "n" + long,
		"long name by its range":   long + "[1-2]",
		"long name by zeros":       "n[" + strings.Repeat("0", 300) + "1-2]",
		"a thousand full ranges":   strings.Repeat("n[1-65536],", 1000),
	} {
		if hosts, err := Hostlist(text); err == nil {
			t.Errorf("%s: %d hosts, want an error", name, len(hosts))
		}
	}
	if hosts, err := Hostlist(long); err != nil || len(hosts) != 1 {
		t.Errorf("a name of %d bytes: %d hosts, %v", maxHostName, len(hosts), err)
	}
	if hosts, err := Hostlist("n[1-256]-[1-256]"); err != nil || len(hosts) != MaxHosts {
		t.Errorf("the largest list: %d hosts, %v", len(hosts), err)
	}
}

func FuzzHostlist(f *testing.F) {
	for _, v := range readVectors(f).Hostlist {
		f.Add(v.In)
	}
	f.Add("[0-65535][0-65535][0-65535]")
	f.Add("n[18446744073709551615-18446744073709551615]")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := Hostlist(text)
		if err != nil {
			checkListError(t, text, err)
			if hosts != nil {
				t.Fatalf("hosts beside an error: %d", len(hosts))
			}
			return
		}
		if len(hosts) > MaxHosts {
			t.Fatalf("%d hosts", len(hosts))
		}
		for _, host := range hosts {
			if host == "" || len(host) > maxHostName {
				t.Fatalf("host %q", host)
			}
		}
		// Names stand for themselves: reading them again changes nothing.
		again, err := Hostlist(strings.Join(hosts, ","))
		if err != nil || !slices.Equal(hosts, again) {
			t.Fatalf("reading the names again: %v\n%s", err, cmp.Diff(hosts, again))
		}
	})
}

func checkListError(t *testing.T, text string, err error) {
	t.Helper()
	var list *ListError
	if !errors.As(err, &list) || list.Text != text || list.Offset < 0 || list.Offset > len(text) {
		t.Fatalf("%#v is not a ListError of %q", err, text)
	}
	if message := err.Error(); strings.ContainsAny(message, "\r\n") || len(message) > 700 {
		t.Fatalf("not one readable line: %q", message)
	}
}
