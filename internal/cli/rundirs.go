package cli

import (
	"errors"
	"io/fs"

	"lenslaunch/launcher"
)

// runDirectory reads the command line of a subcommand that looks at a run directory:
// `logs DIR [flags]`, with flags on either side of DIR. help says that the help was
// asked for.
func (c *call) runDirectory(table []flagSpec) (dir string, s settings, help bool, err error) {
	table = append(table, globalFlags()...)
	inv := invocation{flags: c.inv.flags}
	words := c.inv.words
	for given := false; len(words) > 0; given = true {
		if given {
			return "", s, false, misuse("leave it out", "%s takes one run directory, and %q is another word", c.inv.sub, words[0])
		}
		dir = words[0]
		if c.inv.literal {
			words = words[1:]
			continue
		}
		if words, err = inv.takeFlags(words[1:], table); err != nil {
			return "", s, false, err
		}
	}
	if inv.asked("help") {
		return "", s, true, nil
	}
	if dir == "" {
		return "", s, false, misuse("write lenslaunch "+c.inv.sub+" DIR, where DIR is that of --log-dir", "%s needs a run directory", c.inv.sub)
	}
	s, err = parse(inv.flags, table, c.env)
	return dir, s, false, err
}

// unreadable is the error of a run directory that cannot be shown. One that is none is
// a slip of the hand; others are the disk's.
func (c *call) unreadable(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return misuse("give the DIR of --log-dir", "%s is no run directory", dir)
	}
	return &launcher.Failure{Code: exitNo, Problem: err.Error()}
}

// flagOnly is a setting that no variable gives: LENSLAUNCH_ATTEMPT is what a worker is
// told about itself, and no wish.
func (s settings) flagOnly(name string) setting {
	if v := s.get(name); v.from == "--"+name {
		return v
	}
	return setting{from: "--" + name}
}
