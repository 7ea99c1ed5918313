package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		want invocation
	}{
		{"nothing", nil, invocation{sub: "run"}},
		{"a command", []string{"python", "-v"}, invocation{sub: "run", words: []string{"python", "-v"}}},
		{"flags, then a command", []string{"--nproc", "2", "-q", "python", "--nproc", "3"},
			invocation{sub: "run", flags: []string{"--nproc=2", "--quiet"}, words: []string{"python", "--nproc", "3"}}},
		{"a word of ours behind --", []string{"--", "env", "--nproc"},
			invocation{sub: "run", words: []string{"env", "--nproc"}, literal: true}},
		{"-- once", []string{"--", "--", "x"}, invocation{sub: "run", words: []string{"--", "x"}, literal: true}},
		{"a subcommand", []string{"env", "--format=json", "x"},
			invocation{sub: "env", flags: []string{"--format=json"}, words: []string{"x"}}},
		{"flags on both sides", []string{"--nproc=2", "env", "--format", "json"},
			invocation{sub: "env", flags: []string{"--nproc=2", "--format=json"}}},
		{"run, then a word of ours", []string{"run", "help"}, invocation{sub: "run", words: []string{"help"}}},
		{"a value that is a word of ours", []string{"--role", "env", "x"},
			invocation{sub: "run", flags: []string{"--role=env"}, words: []string{"x"}}},
		{"underscores and the second name", []string{"--nproc_per_node=2", "--max_restarts", "1"},
			invocation{sub: "run", flags: []string{"--nproc=2", "--max-restarts=1"}}},
		{"underscores in a value stay", []string{"--env=MY_VAR=a_b"}, invocation{sub: "run", flags: []string{"--env=MY_VAR=a_b"}}},
		{"a value with = and commas", []string{"--attr", "k=a,b=c"}, invocation{sub: "run", flags: []string{"--attr=k=a,b=c"}}},
		{"a negative value", []string{"--max-restarts", "-1"}, invocation{sub: "run", flags: []string{"--max-restarts=-1"}}},
		{"switches with values", []string{"-v=1", "--quiet=F", "--dry-run=true"},
			invocation{sub: "run", flags: []string{"--verbose", "--quiet=false", "--dry-run"}}},
		{"a dash is a word", []string{"-", "x"}, invocation{sub: "run", words: []string{"-", "x"}}},
		{"an empty word is a word", []string{""}, invocation{sub: "run", words: []string{""}}},
		{"carrier's flags are its verb's", []string{"carrier", "check", "--require", "a"},
			invocation{sub: "carrier", words: []string{"check", "--require", "a"}}},
		{"a subcommand to come", []string{"--nproc", "2", "torchrun", "x"},
			invocation{sub: "torchrun", flags: []string{"--nproc=2"}, words: []string{"x"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.argv)
			got, err := split(tt.argv)
			if err != nil {
				t.Fatal(err)
			}
			// A nil and an empty list are the same here.
			if len(got.words) == 0 {
				got.words = nil
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(invocation{})); diff != "" {
				t.Errorf("split(%q) (-want +got):\n%s", tt.argv, diff)
			}
			if !slices.Equal(before, tt.argv) {
				t.Errorf("argv was changed to %q", tt.argv)
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"--nproc"}, "--nproc needs a value: write --nproc N|auto|gpu|cpu"},
		{[]string{"--run-id", "--nproc", "2"}, "--run-id needs a value: write --run-id ID"},
		{[]string{"--run-id", "--max_restarts=2"}, "--run-id needs a value: write --run-id ID"},
		{[]string{"--attr", "-v", "x"}, "--attr needs a value: write --attr K=V"},
		{[]string{"--chdir", "--", "x"}, "--chdir needs a value: write --chdir DIR"},
		{[]string{"--chdir=", "x"}, "--chdir has an empty value: write --chdir DIR, or leave it out"},
		{[]string{"--quiet=3"}, `--quiet "3" is neither true nor false: write --quiet alone`},
		{[]string{"--nprocs", "2"}, "unknown flag --nprocs: did you mean --nproc? COMMAND's own flags stand behind COMMAND"},
		{[]string{"--nprocs=2"}, "unknown flag --nprocs: did you mean --nproc? COMMAND's own flags stand behind COMMAND"},
		{[]string{"---nproc", "2"}, "unknown flag ---nproc: did you mean --nproc? COMMAND's own flags stand behind COMMAND"},
		{[]string{"-nproc", "2"}, "unknown flag -nproc: did you mean --nproc? COMMAND's own flags stand behind COMMAND"},
		{[]string{"--quite"}, "unknown flag --quite: did you mean --quiet? COMMAND's own flags stand behind COMMAND"},
		{[]string{"-x"}, "unknown flag -x: see lenslaunch help; COMMAND's own flags stand behind COMMAND"},
		{[]string{"--=x"}, "unknown flag --: see lenslaunch help; COMMAND's own flags stand behind COMMAND"},
		{[]string{"---"}, "unknown flag ---: see lenslaunch help; COMMAND's own flags stand behind COMMAND"},
		{[]string{"-vh"}, "unknown flag -vh: write the letters apart, as in -v -h"},
		{[]string{"--require", "x"}, "unknown flag --require: it belongs behind carrier check"},
		{[]string{"detect", "--nproc", "2"}, "unknown flag --nproc: it belongs behind doctor or env or run"},
		{[]string{"--nproc", "2", "uuid", "job"}, "uuid has no flag --nproc: leave it out"},
		{[]string{"--verbose", "carrier", "parse"}, "carrier has no flag --verbose: leave it out"},
	}
	for _, tt := range tests {
		_, err := split(tt.argv)
		var misused *usageError
		if !errors.As(err, &misused) {
			t.Errorf("split(%q): error %v, want a usage error", tt.argv, err)
			continue
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("split(%q) (-want +got):\n%s", tt.argv, diff)
		}
	}
}

// Names that later releases need are never given to COMMAND.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{
		"run", "torchrun", "env", "detect", "carrier", "uuid", "doctor", "report", "journal", "logs", "top",
		"version", "completion", "help",
	} {
		if inv, err := split([]string{name}); err != nil || inv.sub != name {
			t.Errorf("%s: subcommand %q, error %v", name, inv.sub, err)
		}
		if inv, err := split([]string{"--", name}); err != nil || inv.sub != "run" || inv.words[0] != name {
			t.Errorf("-- %s: subcommand %q, words %q, error %v", name, inv.sub, inv.words, err)
		}
	}
}

// Every flag is found under each of its spellings, and no two share one.
func TestFlagNames(t *testing.T) {
	tables := subFlags()
	tables["run"] = runFlags()
	for verb, table := range carrierFlags() {
		tables["carrier "+verb] = table
	}
	for sub, table := range tables {
		seen := map[string]bool{}
		for _, f := range append(table, globalFlags()...) {
			for _, word := range []string{"--" + f.name, "--" + f.alias, "-" + f.short, "--" + strings.ReplaceAll(f.name, "-", "_")} {
				got, _, _ := find(append(table, globalFlags()...), word)
				if word != "--" && word != "-" && got.name != f.name {
					t.Errorf("%s %s finds flag %q, want %q", sub, word, got.name, f.name)
				}
			}
			for _, name := range []string{f.name, f.alias, f.short, f.variable()} {
				if name != "" && seen[name] {
					t.Errorf("%s has %q twice", sub, name)
				}
				seen[name] = true
			}
			if f.help == "" || f.kind != isSwitch && f.arg == "" {
				t.Errorf("%s --%s has no help or does not name its value", sub, f.name)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "--", "-", "---", "--=", "-=", "--nproc\x002\x00env", "--nproc=2\x00--\x00env", "-v=\x00x", "carrier\x00parse",
		"--max_restarts\x00-1\x00detect\x00--format", "--__\x00x", "--attr=k=a,b\x00run\x00help", "\xff\x00--\xff=\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, "\x00")
		inv, err := split(argv)
		if err != nil {
			if text := oneLine(err.Error()); text == "" || strings.ContainsAny(text, "\r\n") {
				t.Errorf("the error is not one line: %q", text)
			}
			return
		}
		// Words are the end of argv as it was: COMMAND is passed on untouched.
		if !slices.Equal(inv.words, argv[len(argv)-len(inv.words):]) {
			t.Errorf("words %q are not the end of %q", inv.words, argv)
		}
		if !slices.Contains(subcommands(), inv.sub) {
			t.Errorf("%q is no subcommand", inv.sub)
		}
		table := append(runFlags(), globalFlags()...)
		if own, ok := subFlags()[inv.sub]; ok {
			table = append(own, globalFlags()...)
		}
		if inv.sub == "help" {
			return // it ignores what it is asked about
		}
		if _, err := parse(inv.flags, table, nil); err != nil {
			t.Errorf("what split took for flags of %s is none to urfave: %q: %v", inv.sub, inv.flags, err)
		}
	})
}
