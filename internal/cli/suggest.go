package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// unknownFlag says of a flag that is in no table what would be right.
func unknownFlag(word string, table []flagSpec) error {
	name, _, _ := strings.Cut(word, "=")
	return misuse(flagHint(name, table), "unknown flag %s", name)
}

func flagHint(name string, table []flagSpec) string {
	if letters := strings.TrimPrefix(name, "-"); areSwitches(letters, table) {
		return "write the letters apart, as in -" + strings.Join(strings.Split(letters, ""), " -")
	}
	bare := strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
	if owners := ownersOf(bare, table); len(owners) > 0 {
		return "it belongs behind " + strings.Join(owners, " or ")
	}
	if meant := nearest(bare, table); meant != "" {
		return "did you mean --" + meant + "? COMMAND's own flags stand behind COMMAND"
	}
	return "see lenslaunch help; COMMAND's own flags stand behind COMMAND"
}

// areSwitches reports whether a word is several switches written as one, such as
// the letters of -qv. Joined letters are no spelling of ours.
func areSwitches(letters string, table []flagSpec) bool {
	for _, letter := range letters {
		if spec, ok := lookup(table, string(letter), false); !ok || spec.kind != isSwitch {
			return false
		}
	}
	return len(letters) > 1
}

// ownersOf lists the words behind which the flag would be known, none if it is known
// here.
func ownersOf(name string, here []flagSpec) []string {
	if _, ok := lookup(here, name, true); ok {
		return nil
	}
	tables := subFlags()
	tables["run"] = runFlags()
	for verb, own := range carrierFlags() {
		tables["carrier "+verb] = own
	}
	var owners []string
	for word, own := range tables {
		if _, ok := lookup(own, name, true); ok {
			owners = append(owners, word)
		}
	}
	slices.Sort(owners)
	return owners
}

// nearest is the flag that was probably meant, empty if none is near. urfave ranks
// them and always has a winner; one that begins with another letter is noise.
func nearest(name string, table []flagSpec) string {
	var known []cli.Flag
	for _, f := range table {
		known = append(known, f.urfave())
	}
	meant := strings.TrimPrefix(cli.SuggestFlag(known, name, true), "--")
	if name == "" || meant == "" || meant[0] != name[0] {
		return ""
	}
	return meant
}
