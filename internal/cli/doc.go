// Package cli is lenslaunch's command line: it takes arguments, environment and
// streams, and returns an exit code. It reads the process's environment in one
// place and installs signal handlers in one place.
//
// argv is split before urfave/cli sees it: flags, then a subcommand or the first
// word of COMMAND, which is passed on untouched. Flags are found in the order flag,
// LENSLAUNCH_<NAME> variable, scheduler, default. A usage error is one line on
// stderr and exit code 2, and nothing was started.
//
// It decides nothing about a run: that is package launcher. Source: the launch
// specification, "Command line".
package cli
