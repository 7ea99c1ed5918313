package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// settings answers what a flag is set to: by the flag, by its variable, or by
// default. Values are text; the readers in values.go give them types.
type settings struct {
	parsed map[string][]string
	table  []flagSpec
	env    map[string]string
}

// parse hands flags that split found to urfave/cli and collects their values.
func parse(flags []string, table []flagSpec, env map[string]string) (settings, error) {
	s := settings{parsed: map[string][]string{}, table: table, env: env}
	given := written(flags, table)
	app := &cli.App{
		Name: "lenslaunch", HideHelp: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: io.Discard, ErrWriter: io.Discard, ExitErrHandler: func(*cli.Context, error) {},
		// urfave prints the whole help at a usage error; ours is one line.
		OnUsageError: func(_ *cli.Context, err error, _ bool) error { return misuse("see lenslaunch help", "%v", err) },
		Action: func(c *cli.Context) error {
			for _, f := range given {
				s.parsed[f.name] = values(c, f)
			}
			return nil
		},
	}
	for _, f := range given {
		app.Flags = append(app.Flags, f.urfave())
	}
	return s, app.Run(append([]string{"lenslaunch"}, flags...))
}

// written are the flags of the table that stand on the command line. urfave gets no
// others: its time grows with the square of their number, and with all of them it
// would be half the time of a start.
func written(flags []string, table []flagSpec) []flagSpec {
	var out []flagSpec
	for _, f := range table {
		if slices.ContainsFunc(flags, func(flag string) bool { return flag == "--"+f.name || strings.HasPrefix(flag, "--"+f.name+"=") }) {
			out = append(out, f)
		}
	}
	return out
}

func values(c *cli.Context, f flagSpec) []string {
	switch f.kind {
	case takesMany:
		return c.StringSlice(f.name)
	case isSwitch:
		if c.Bool(f.name) {
			return []string{"true"}
		}
		return []string{"false"}
	default:
		return []string{c.String(f.name)}
	}
}

// setting is a value and where it came from.
type setting struct {
	text  string
	given bool   // by flag or variable
	from  string // "--nproc" or "LENSLAUNCH_NPROC": what an error names
}

// get is a flag's value. An empty variable counts as unset, as it does everywhere in
// OpenTelemetry's conventions.
func (s settings) get(name string) setting {
	f := s.spec(name)
	if v, ok := s.parsed[name]; ok {
		return setting{text: v[len(v)-1], given: true, from: "--" + name}
	}
	if v := s.env[f.variable()]; v != "" {
		return setting{text: v, given: true, from: f.variable()}
	}
	return setting{text: f.initial, from: "--" + name}
}

// all is a repeatable flag's entries: those of the flag, else the lines of the
// variable.
func (s settings) all(name string) []setting {
	f := s.spec(name)
	var out []setting
	if v, ok := s.parsed[name]; ok {
		for _, text := range v {
			out = append(out, setting{text: text, given: true, from: "--" + name})
		}
		return out
	}
	for _, line := range strings.Split(s.env[f.variable()], "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, setting{text: line, given: true, from: f.variable()})
		}
	}
	return out
}

func (s settings) spec(name string) flagSpec {
	for _, f := range s.table {
		if f.name == name {
			return f
		}
	}
	// A name that is in no table is a programming error that every test would meet.
	return flagSpec{name: name}
}
