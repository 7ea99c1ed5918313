package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/launcher"
)

// otherTools are flags that the docs name alone although they are another tool's.
// Better is to write the tool's name with them: that needs no entry here.
func otherTools() []string {
	return []string{
		"--rdzv-id", // torchrun, in the table for those who come from it
	}
}

// documents are the texts that people read before they type. One that does not exist
// yet is no fault; one that cannot be read is.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names := []string{"../../README.md", "../../CHANGELOG.md"}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range append(names, more...) {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = string(text)
	}
	return texts
}

// snippet is a piece of code in a document: a line of a block, or a span in a text.
type snippet struct {
	line int
	code string
	span bool
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// snippets finds the code in Markdown. The lines of a block of Python or of a picture
// are among them; who reads them takes what looks like a command line.
func snippets(text string) []snippet {
	var out []snippet
	block := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			block = !block
		case block:
			out = append(out, snippet{number, strings.TrimPrefix(strings.TrimSpace(line), "$ "), false})
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				out = append(out, snippet{number, m[1], true})
			}
		}
	}
	return out
}

var flagWord = regexp.MustCompile(`^--[a-z][a-z0-9_-]*`)

// Every flag of ours that the docs name exists, and every command line of ours in
// them is one that the binary takes.
func TestDocsNameRealFlags(t *testing.T) {
	for name, text := range documents(t) {
		for _, fault := range flagFaults(text) {
			t.Errorf("%s:%s", name, fault)
		}
	}
}

// flagFaults are the lines of a document that the binary would not take.
func flagFaults(text string) []string {
	var faults []string
	for _, s := range snippets(text) {
		words := shellWords(s.code)
		if i := slices.IndexFunc(words, isLenslaunch); i >= 0 {
			// What stands before is a variable, `exec`, `srun ...`.
			if _, err := split(words[i+1:]); err != nil {
				faults = append(faults, fmt.Sprintf("%d: %s: %v", s.line, s.code, err))
			}
			continue
		}
		if !s.span || !strings.HasPrefix(s.code, "--") {
			continue
		}
		for _, word := range words {
			if flag := flagWord.FindString(word); flag != "" && !isOurs(flag) {
				faults = append(faults, fmt.Sprintf("%d: there is no flag %s", s.line, flag))
			}
		}
	}
	return faults
}

func TestFlagFaults(t *testing.T) {
	text := strings.Join([]string{
		"Use `--nproc 8`, `--max_restarts 3` or `--require K`, and `srun --ntasks 3`; `--nodes --nproc` is wrong.",
		"```sh",
		"$ lenslaunch --nproc 8 --max-restart 1 -- python train.py --lr 1   # wrong",
		"srun --ntasks=1 bin/lenslaunch --nproc 8 -- true",
		"--no-flag in a block is somebody's output",
		"go build ./cmd/lenslaunch --what",
		"```",
		"`lenslaunch env --only gpu` is wrong too.",
	}, "\n")
	want := []string{
		"1: there is no flag --nodes",
		"3: lenslaunch --nproc 8 --max-restart 1 -- python train.py --lr 1   # wrong: " +
			"unknown flag --max-restart: did you mean --max-restarts? COMMAND's own flags stand behind COMMAND",
		"8: lenslaunch env --only gpu: unknown flag --only: it belongs behind detect",
	}
	if diff := cmp.Diff(want, flagFaults(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func isLenslaunch(word string) bool {
	return word == "lenslaunch" || strings.HasSuffix(word, "/lenslaunch") && !strings.HasPrefix(word, "./cmd/")
}

// isOurs reports whether a flag exists under some subcommand, or is known to be
// another tool's.
func isOurs(flag string) bool {
	tables := subFlags()
	tables["run"] = append(runFlags(), globalFlags()...)
	for verb, table := range carrierFlags() {
		tables["carrier "+verb] = table
	}
	for _, table := range tables {
		if isFlag(flag, table) {
			return true
		}
	}
	return slices.Contains(otherTools(), flag)
}

// shellWords takes a command line apart as far as these documents need it: quotes,
// and an end at a comment, a pipe or another command.
func shellWords(line string) []string {
	var words []string
	word, quote, open := "", rune(0), false
	flush := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word += string(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			flush()
		case c == '#' && !open, c == '|', c == ';', c == '&', c == '>':
			flush()
			return words
		default:
			word, open = word+string(c), true
		}
	}
	flush()
	return words
}

func TestShellWords(t *testing.T) {
	tests := map[string][]string{
		"lenslaunch --nproc 8 -- sh -c 'echo $RANK \"x\"'": {"lenslaunch", "--nproc", "8", "--", "sh", "-c", `echo $RANK "x"`},
		"lenslaunch env   # what each rank gets":           {"lenslaunch", "env"},
		"a=1 lenslaunch '' | tee":                          {"a=1", "lenslaunch", ""},
		"":                                                 nil,
	}
	for line, want := range tests {
		if diff := cmp.Diff(want, shellWords(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

var ourVariable = regexp.MustCompile(`\bLENSLAUNCH_[A-Z0-9_]+\b`)

// Every variable of ours that the docs name is that of a flag, or stands in the code:
// one that workers, schedulers or tests share with us.
func TestDocsNameRealVariables(t *testing.T) {
	known := variablesInCode(t)
	for _, f := range runFlags() {
		known[f.variable()] = true
	}
	for name, text := range documents(t) {
		for _, variable := range ourVariable.FindAllString(text, -1) {
			if !known[variable] {
				t.Errorf("%s: there is no variable %s", name, variable)
			}
		}
	}
}

// variablesInCode finds the names of variables that stand as texts in Go files, and
// in the shell scripts beside them.
func variablesInCode(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sh" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, variable := range ourVariable.FindAllString(string(text), -1) {
			known[variable] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// README's table of exit codes is the binary's.
func TestReadmeHasTheExitTable(t *testing.T) {
	readme, ok := documents(t)["README.md"]
	if !ok {
		t.Fatal("there is no README")
	}
	_, section, ok := strings.Cut(readme, "\n## Exit code\n")
	if !ok {
		t.Fatal("README has no section \"Exit code\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var got []launcher.ExitRow
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || strings.HasPrefix(cells[0], "-") {
			continue
		}
		got = append(got, launcher.ExitRow{Result: plainCell(cells[0]), Code: plainCell(cells[1])})
	}
	want := append([]launcher.ExitRow{{Result: "result", Code: "code"}}, launcher.ExitTable()...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README's exit codes (-binary +README):\n%s", diff)
	}
}

func plainCell(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "`", "") }
