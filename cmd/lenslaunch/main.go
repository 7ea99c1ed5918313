// Command lenslaunch starts, supervises and restarts the local workers of a
// distributed job. See lenslaunch help.
package main

import (
	"os"

	"lenslaunch/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Environ(), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
