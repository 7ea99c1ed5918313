package cli

import (
	"fmt"
	"strings"

	"lenslaunch/launcher"
)

// subFlags are the tables of subcommands that have flags of their own.
func subFlags() map[string][]flagSpec {
	return map[string][]flagSpec{
		"env": envFlags(), "doctor": doctorFlags(), "detect": detectFlags(), "uuid": uuidFlags(), "version": {},
		"report": reportFlags(), "logs": logsFlags(), "top": topFlags(),
		"carrier": {}, // its verbs have: see carrierFlags
		"journal": {}, // and journalFlags
	}
}

// helpWidth is the widest line of the help, in columns.
const helpWidth = 100

// help prints the one help page.
func (c *call) help() (int, error) { return c.print(helpText()) }

func helpText() string {
	var b strings.Builder
	b.WriteString(helpHead)
	flags := append(runFlags(), globalFlags()...)
	for _, cat := range categories() {
		fmt.Fprintf(&b, "\n%s\n", cat)
		for _, f := range flags {
			if f.cat == cat {
				writeFlag(&b, f)
			}
		}
	}
	b.WriteString("\nExit code\n")
	for _, row := range launcher.ExitTable() {
		writeEntry(&b, row.Result, row.Code, 44)
	}
	b.WriteString(helpTail)
	return b.String()
}

const helpHead = `lenslaunch starts N local workers of a distributed job, supervises, restarts and stops them.

  lenslaunch --nproc 8 -- python train.py                     8 ranks on this machine
  lenslaunch --nproc 8 --max-restarts 3 -- python train.py    the same, restarted after a failure
  lenslaunch env --nproc 8                                    what each rank would get

Usage
  lenslaunch [flags] [--] COMMAND [ARG...]    run COMMAND once per local rank (also: lenslaunch run)
  lenslaunch env [flags] [--format json|shell|table]
  lenslaunch detect [--format json|env|table] [--only local|slurm|kubernetes|gpu]
  lenslaunch carrier parse [--format json|lines] [-- TEXT]
  lenslaunch carrier format                   reads a JSON object on stdin
  lenslaunch carrier extend [--defaults JSON] [--overrides JSON] [-- TEXT]
  lenslaunch carrier check [--require K,..] [--forbid K,..] [-- TEXT]
                                              exits 1 and names what is wrong
  lenslaunch uuid job|run [--run-id ID]       exits 1 where there is none to derive
  lenslaunch doctor [flags] [--format text|json]
                                              what stands in the way here; exits 1 if it will fail
  lenslaunch report DIR [--html FILE]         what happened in a run directory
  lenslaunch logs DIR [-f] [--rank LIST] [--attempt N] [--grep RE]
                                              what all ranks wrote, as one; -f goes on with it
  lenslaunch top DIR [-n N] [--interval D]    what the ranks are doing, live
  lenslaunch journal show DIR [--format text|json]
                                              the spans that every rank has open now
  lenslaunch journal recover DIR [--telemetry-file FILE] [--ended-at TIME]
                                              exports what was open when a launcher was killed
  lenslaunch version | help

The first word that is no flag starts COMMAND, unless it is a subcommand's name; behind -- it
always does.
`

const helpTail = `
Every flag has a variable: --max-restarts is LENSLAUNCH_MAX_RESTARTS. A flag beats its variable; a
flag that may be repeated has one entry per line there. Dashes may be written as underscores. Times
have a unit: 500ms, 20s, 1h30m.
`

// writeFlag writes a flag with its help in columns.
func writeFlag(b *strings.Builder, f flagSpec) {
	name := "--" + f.name
	if f.short != "" {
		name = "-" + f.short + ", " + name
	}
	if f.arg != "" {
		name += " " + f.arg
	}
	text := f.help
	if f.alias != "" {
		text += " (also --" + f.alias + ")"
	}
	if f.kind == takesMany {
		text += "; may be repeated"
	}
	if f.initial != "" {
		text += " (default: " + f.initial + ")"
	}
	writeEntry(b, name, text, 34)
}

// writeEntry writes a name and a text that is wrapped in its column; a name that is
// too long for its own gets a line.
func writeEntry(b *strings.Builder, name, text string, column int) {
	lines := wrap(text, helpWidth-column)
	head := lines
	if len(name) > column-4 {
		for i, line := range wrap(name, helpWidth-2) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2+2*min(i, 1)), line)
		}
	} else {
		fmt.Fprintf(b, "  %-*s%s\n", column-2, name, lines[0])
		head = lines[1:]
	}
	for _, line := range head {
		fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", column), line)
	}
}

// wrap breaks a text at spaces into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
