package cli

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/launcher"
)

// update writes the golden files anew: go test ./internal/cli -run Help -update
var update = flag.Bool("update", false, "write golden files anew")

func TestHelpIsGolden(t *testing.T) {
	const golden = "testdata/help.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(helpText()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), helpText()); diff != "" {
		t.Errorf("the help has changed; if that is right, run this test with -update (-golden +now):\n%s", diff)
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	for line := range strings.Lines(helpText()) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %q", n, line)
		}
		if strings.TrimRight(line, " ") != line || strings.Contains(line, "\t") {
			t.Errorf("blanks at the end, or tabs: %q", line)
		}
	}
}

// Every flag is in the help once, in its own group, with its default.
func TestHelpHasEveryFlag(t *testing.T) {
	entries, groups := helpEntries(helpText())
	for _, f := range append(runFlags(), globalFlags()...) {
		if !slices.Contains(categories(), f.cat) {
			t.Errorf("--%s is in no group that help shows: %q", f.name, f.cat)
		}
		entry, ok := entries["--"+f.name]
		if !ok {
			t.Errorf("--%s is not in the help", f.name)
			continue
		}
		if groups["--"+f.name] != f.cat {
			t.Errorf("--%s stands in group %q, want %q", f.name, groups["--"+f.name], f.cat)
		}
		for _, want := range []string{f.arg, f.help, f.alias, f.initial} {
			if !strings.Contains(entry, want) {
				t.Errorf("--%s has no %q in the help: %s", f.name, want, entry)
			}
		}
		if f.short != "" && !strings.Contains(entry, "-"+f.short+", ") {
			t.Errorf("--%s does not show its letter -%s: %s", f.name, f.short, entry)
		}
		delete(entries, "--"+f.name)
	}
	for name := range entries {
		t.Errorf("the help has %s, which is no flag", name)
	}
	for _, cat := range categories() {
		if !strings.Contains(helpText(), "\n"+cat+"\n") {
			t.Errorf("the help has no group %q", cat)
		}
	}
}

// helpEntries takes the groups of flags apart: the text of each entry, on one line,
// and its group, by flag.
func helpEntries(text string) (entries, groups map[string]string) {
	entries, groups = map[string]string{}, map[string]string{}
	group, name := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case slices.Contains(categories(), trimmed):
			group, name = trimmed, ""
		case trimmed == "" || !strings.HasPrefix(line, " "):
			group, name = "", ""
		case group == "":
		default:
			if strings.HasPrefix(trimmed, "-") && strings.HasPrefix(line, "  -") {
				words := strings.Fields(trimmed)
				name = words[slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })]
				groups[name] = group
			}
			entries[name] = strings.TrimSpace(entries[name] + " " + strings.Join(strings.Fields(trimmed), " "))
		}
	}
	return entries, groups
}

// The three commands that people type most are the first thing to see, and every
// subcommand that works is in the list.
func TestHelpShowsHowToBegin(t *testing.T) {
	head, rest, _ := strings.Cut(helpText(), "\nUsage\n")
	if n := strings.Count(head, "\n  lenslaunch "); n != 3 {
		t.Errorf("%d commands at the top, want 3:\n%s", n, head)
	}
	for line := range strings.Lines(head) {
		if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(line, "  ") {
			command, _, _ := strings.Cut(strings.TrimSpace(line), "   ")
			if _, err := split(strings.Fields(command)[1:]); err != nil {
				t.Errorf("%q: %v", command, err)
			}
		}
	}
	for _, sub := range []string{"env", "detect", "carrier", "uuid", "version", "help", "run"} {
		if !strings.Contains(rest, sub) {
			t.Errorf("the help does not show %s", sub)
		}
	}
	for sub, table := range map[string][]flagSpec{
		"detect": detectFlags(), "uuid": uuidFlags(), "carrier parse": carrierFlags()["parse"],
		"carrier extend": carrierFlags()["extend"], "carrier check": carrierFlags()["check"],
	} {
		for _, f := range table {
			if !strings.Contains(rest, "--"+f.name+" "+f.arg) {
				t.Errorf("the help does not show --%s %s of %s", f.name, f.arg, sub)
			}
		}
	}
}

func TestHelpHasTheExitTable(t *testing.T) {
	_, table, ok := strings.Cut(helpText(), "\nExit code\n")
	if !ok {
		t.Fatal("the help has no exit codes")
	}
	words := strings.Join(strings.Fields(table), " ")
	for _, row := range launcher.ExitTable() {
		if !strings.Contains(words, row.Result+" "+row.Code) {
			t.Errorf("the help lacks the row %q: %q", row.Result, row.Code)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 13, []string{"one two three"}},
		{"a unbreakable b", 4, []string{"a", "unbreakable", "b"}},
		{"  spaces   do not   count ", 20, []string{"spaces do not count"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, wrap(tt.text, tt.width)); diff != "" {
			t.Errorf("wrap(%q, %d) (-want +got):\n%s", tt.text, tt.width, diff)
		}
	}
}
