package cli

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/internal/proc"
	"lenslaunch/launcher"
)

func TestInteger(t *testing.T) {
	for value, want := range map[string]int{"1": 1, " 3 ": 3, "+5": 5, "10": 10} {
		if got, err := text(value).integer(1, 10, "a number from 1 to 10"); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", value, got, err, want)
		}
	}
	for value, want := range map[string]string{
		"0":   `--flag "0" is less than 1: write a number`,
		"-1":  `--flag "-1" is less than 1: write a number`,
		"11":  `--flag "11" is more than 10: write a number`,
		"1.5": `--flag "1.5" is no whole number: write a number`,
		"":    `--flag "" is no whole number: write a number`,
	} {
		if _, err := text(value).integer(1, 10, "a number"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
	}
	if n, err := (setting{text: "x"}).optional(1, "a number"); n != nil || err != nil {
		t.Errorf("a flag that was not given is %v, %v, want nothing", n, err)
	}
}

func TestDuration(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0s": 0, "0": 0, "500ms": 500 * time.Millisecond, " 20s ": 20 * time.Second, "1h30m": 90 * time.Minute,
	} {
		if got, err := text(value).duration(); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", value, got, err, want)
		}
	}
	for value, want := range map[string]string{"30": "is no time", "-1s": "is a negative time", "": "is no time", "1 h": "is no time"} {
		if _, err := text(value).duration(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want that it %s", value, err, want)
		}
	}
}

func TestSignals(t *testing.T) {
	tests := []struct {
		value string
		want  []syscall.Signal
		fault string
	}{
		{value: "USR1,USR2", want: []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2}},
		{value: " sigusr1 , 12", want: []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2}},
		{value: "none"},
		{value: " none "},
		{value: "USR1,KILL", fault: "has SIGKILL, which cannot be passed on: leave it out"},
		{value: "USR1,", fault: "is no signal"},
		{value: "none,USR1", fault: `"none" is no signal`},
	}
	for _, tt := range tests {
		got, err := text(tt.value).signals(syscall.SIGKILL)
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q: %v, want %s", tt.value, err, tt.fault)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", tt.value, err, diff)
		}
	}
}

func TestExits(t *testing.T) {
	set, err := text("3,64-66,KILL").exits()
	if err != nil {
		t.Fatal(err)
	}
	for exit, want := range map[proc.Exit]bool{
		{Code: 3}: true, {Code: 65}: true, {Code: 67}: false, {Signal: syscall.SIGKILL}: true, {Signal: syscall.SIGTERM}: false,
		{Code: 137}: false,
	} {
		if got := set.Has(exit); got != want {
			t.Errorf("%v: %v, want %v", exit, got, want)
		}
	}
	if none, err := text(" none ").exits(); err != nil || !none.Empty() {
		t.Errorf("none: %v, %v, want the empty set", none, err)
	}
	if _, err := text("2,x").exits(); err == nil || !strings.HasPrefix(err.Error(), `--flag "2,x": "x" is neither`) {
		t.Errorf("2,x: %v", err)
	}
}

func TestList(t *testing.T) {
	tests := []struct {
		value string
		want  []bool
		fault string
	}{
		{value: "0", want: []bool{true, false, false, false}},
		{value: "0, 2-3", want: []bool{true, false, true, true}},
		{value: "1-1,1", want: []bool{false, true, false, false}},
		{value: "4", fault: "names local rank 4, which there is not: local ranks go from 0 to 3"},
		{value: "0-99999999", fault: "names local rank 99999999"},
		{value: "99999999999999999999", fault: "is no list of ranks"},
		{value: "3-1", fault: "is no list of ranks: write local ranks, as in 0,3-5"},
		{value: "1--2", fault: "is no list of ranks"},
		{value: "", fault: "is no list of ranks"},
	}
	for _, tt := range tests {
		got, err := text(tt.value).list(4)
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q: %v, want %s", tt.value, err, tt.fault)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", tt.value, err, diff)
		}
	}
	if got, err := (setting{}).list(4); got != nil || err != nil {
		t.Errorf("not given: %v, %v, want nothing", got, err)
	}
}

func TestPair(t *testing.T) {
	key, value, err := text("K=a=b, c ").pair()
	if err != nil || key != "K" || value != "a=b, c " {
		t.Errorf("%q, %q, %v", key, value, err)
	}
	if key, value, err := text("K=").pair(); err != nil || key != "K" || value != "" {
		t.Errorf("an empty value: %q, %q, %v", key, value, err)
	}
	for _, wrong := range []string{"", "K", "=", " =v"} {
		if _, _, err := text(wrong).pair(); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestNames(t *testing.T) {
	for _, right := range []string{"trainer", "run 7", "Lauf-ü", "a=b,c"} {
		if err := text(right).name("x"); err != nil {
			t.Errorf("%q: %v", right, err)
		}
	}
	for _, wrong := range []string{"", " ", "a\nb", "\x1b[1m", "\xff", "a\u0085b"} {
		if err := text(wrong).name("x"); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	for _, right := range []string{"NCCL_DEBUG", "a.b", "_"} {
		if err := text("").variable(right); err != nil {
			t.Errorf("variable %q: %v", right, err)
		}
	}
	for _, wrong := range []string{"", "A B", "A=", "A\t", "RANK", "TORCHELASTIC_RUN_ID", "LENSLAUNCH_ATTEMPT"} {
		if err := text("").variable(wrong); err == nil {
			t.Errorf("variable %q is accepted", wrong)
		}
	}
}

func TestAttributes(t *testing.T) {
	got, err := attributes([]setting{text(" team =a,b= c "), text("empty="), text("team=2")}, launcher.OwnsAttribute)
	want := []attribute.KeyValue{
		attribute.String("team", "a,b= c "), attribute.String("empty", ""), attribute.String("team", "2"),
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b attribute.KeyValue) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for value, fault := range map[string]string{
		"nv.dl.rank=3":          "sets nv.dl.rank, which the launcher decides: leave it out",
		" nv.dl.run.uuid =x":    "which the launcher decides",
		"lenslaunch.attempt=1":  "which the launcher decides",
		"service.instance.id=1": "which the launcher decides",
		"a,b=1":                 "is nothing that a carrier can hold",
		"k=\xff":                "is nothing that a carrier can hold",
		"k\x01=v":               "has a key that is no text",
		"k":                     "has no key and value: write KEY=VALUE",
	} {
		if _, err := attributes([]setting{text(value)}, launcher.OwnsAttribute); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %s", value, err, fault)
		}
	}
}

func TestStdin(t *testing.T) {
	tests := []struct {
		value setting
		ranks int
		want  int
	}{
		{setting{}, 1, 0}, {setting{}, 2, -1}, {text("none"), 1, -1}, {text("1"), 2, 1}, {text("0"), 1, 0},
	}
	for _, tt := range tests {
		if got, err := readStdin(tt.value, tt.ranks); err != nil || got != tt.want {
			t.Errorf("%q of %d: %d, %v, want %d", tt.value.text, tt.ranks, got, err, tt.want)
		}
	}
}
