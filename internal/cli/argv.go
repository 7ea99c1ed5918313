package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// usageError is a mistake on the command line: what is wrong and what would be
// right, on one line.
type usageError struct{ problem, hint string }

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.problem
	}
	return e.problem + ": " + e.hint
}

func misuse(hint, problem string, args ...any) *usageError {
	return &usageError{problem: fmt.Sprintf(problem, args...), hint: hint}
}

// subcommands are all names that are never taken for COMMAND, those of later
// releases too, so that a script that works today works then.
func subcommands() []string {
	return []string{
		"run", "torchrun", "env", "detect", "carrier", "uuid", "doctor", "report",
		"journal", "logs", "top", "version", "completion", "help",
	}
}

// invocation is argv, taken apart.
type invocation struct {
	sub     string   // subcommand, "run" if none was named
	flags   []string // flags of the launcher, in urfave's spelling
	words   []string // what follows: COMMAND and its arguments, or a subcommand's own arguments
	literal bool     // words came after `--`
}

// split takes argv (without the program's name) apart. The first word that is
// neither flag nor flag value starts COMMAND, unless it is a subcommand's name;
// after `--` it always does.
func split(argv []string) (invocation, error) {
	inv := invocation{sub: "run"}
	table := append(runFlags(), globalFlags()...)
	rest, err := inv.takeFlags(argv, table)
	if err != nil {
		return inv, err
	}
	if inv.literal || len(rest) == 0 || !slices.Contains(subcommands(), rest[0]) {
		inv.words = rest
		return inv, nil
	}
	inv.sub = rest[0]
	if own, ok := subFlags()[inv.sub]; ok {
		table = append(own, globalFlags()...)
		if err := inv.fits(table); err != nil {
			return inv, err
		}
	}
	if !parsesFlags(inv.sub) {
		inv.words = rest[1:]
		return inv, nil
	}
	inv.words, err = inv.takeFlags(rest[1:], table)
	return inv, err
}

// parsesFlags reports whether the words behind a subcommand begin with flags of
// this table; carrier and journal have flags behind their own verbs.
func parsesFlags(sub string) bool { return sub != "carrier" && sub != "journal" && sub != "help" }

// fits refuses flags in front of a subcommand that has no use for them: to ignore
// them would look like obeying.
func (inv invocation) fits(table []flagSpec) error {
	for _, flag := range inv.flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if _, ok := lookup(table, name, true); !ok {
			return misuse("leave it out", "%s has no flag --%s", inv.sub, name)
		}
	}
	return nil
}

// takeFlags moves leading flags to inv.flags and returns what follows them.
func (inv *invocation) takeFlags(argv []string, table []flagSpec) ([]string, error) {
	for i := 0; i < len(argv); i++ {
		if argv[i] == "--" {
			inv.literal = true
			return argv[i+1:], nil
		}
		if !looksLikeFlag(argv[i]) {
			return argv[i:], nil
		}
		spec, value, given := find(table, argv[i])
		if spec.name == "" {
			return nil, unknownFlag(argv[i], table)
		}
		if spec.kind != isSwitch && !given {
			// A flag in the place of a value is a value that was forgotten, as in
			// `--run-id --nproc 8`: taken as value, it would change COMMAND silently.
			if i+1 == len(argv) || isFlag(argv[i+1], table) {
				return nil, misuse("write --"+spec.name+" "+spec.arg, "--%s needs a value", spec.name)
			}
			i++
			value = argv[i]
		}
		entry, err := spec.entry(value, given)
		if err != nil {
			return nil, err
		}
		inv.flags = append(inv.flags, entry)
	}
	return nil, nil
}

func looksLikeFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// isFlag reports whether a word is a flag of the table, or ends the flags.
func isFlag(word string, table []flagSpec) bool {
	spec, _, _ := find(table, word)
	return word == "--" || spec.name != ""
}

// find takes a word such as --max_restarts=3 apart. The spec has no name if the
// table has no such flag.
func find(table []flagSpec, word string) (spec flagSpec, value string, given bool) {
	name, long := strings.CutPrefix(word, "--")
	if !long {
		name = strings.TrimPrefix(word, "-")
	}
	name, value, given = strings.Cut(name, "=")
	if !looksLikeFlag(word) || strings.HasPrefix(name, "-") {
		return flagSpec{}, "", false
	}
	spec, _ = lookup(table, strings.ReplaceAll(name, "_", "-"), long)
	return spec, value, given
}

// lookup finds a flag by its long name or alias, or by its letter.
func lookup(table []flagSpec, name string, long bool) (flagSpec, bool) {
	for _, f := range table {
		if name != "" && (long && (f.name == name || f.alias == name) || !long && f.short == name) {
			return f, true
		}
	}
	return flagSpec{}, false
}

// entry is the flag as urfave/cli gets it. What urfave would say of a wrong one is
// no message for people, so it is checked here.
func (f flagSpec) entry(value string, given bool) (string, error) {
	switch {
	case f.kind == isSwitch && !given:
		return "--" + f.name, nil
	case f.kind == isSwitch:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return "", misuse("write --"+f.name+" alone", "--%s %q is neither true nor false", f.name, value)
		}
		if on {
			return "--" + f.name, nil
		}
		value = "false"
	case value == "" && !f.mayBeEmpty:
		// `--state-dir "$DIR"` with DIR unset must not quietly mean the default.
		return "", misuse("write --"+f.name+" "+f.arg+", or leave it out", "--%s has an empty value", f.name)
	}
	return "--" + f.name + "=" + value, nil
}
