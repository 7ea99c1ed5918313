package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"lenslaunch/internal/runview"
	"lenslaunch/launcher"
)

func reportFlags() []flagSpec {
	return []flagSpec{{name: "html", arg: "FILE", cat: catOutput, help: "write one HTML page instead of the text (-: to stdout)"}}
}

// report is `lenslaunch report DIR`: what happened in a run directory.
func (c *call) report() (int, error) {
	dir, s, help, err := c.runDirectory(reportFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	if help {
		return c.help()
	}
	run, err := runview.Load(dir)
	if err != nil {
		return launcher.ExitUsage, c.unreadable(dir, err)
	}
	if file := s.get("html"); file.given {
		return c.page(run, file.text)
	}
	return c.print(strings.Join(runview.Report(run, time.Now()), "\n") + "\n")
}

// page writes the report as an HTML page. What ranks said may hold secrets, so a new
// file is its owner's alone, as all in a run directory is.
func (c *call) page(run *runview.Run, file string) (int, error) {
	var text bytes.Buffer
	if err := runview.WritePage(&text, run, time.Now(), "lenslaunch "+Version); err != nil {
		return launcher.ExitInternal, err
	}
	if file == "-" {
		return c.print(text.String())
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return exitNo, &launcher.Failure{Code: exitNo, Problem: fmt.Sprintf("cannot write the page: %v", err)}
	}
	return launcher.ExitOK, nil
}
