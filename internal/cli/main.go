package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"lenslaunch/internal/guard"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// Streams are the process's standard streams.
type Streams struct{ In, Out, Err *os.File }

// Main runs lenslaunch and returns its exit code. args is argv without the
// program's name, environ the process's environment.
func Main(args, environ []string, std Streams) int {
	if len(args) == 1 && args[0] == guard.Word {
		return guard.Main()
	}
	c := &call{env: environment(environ), std: std}
	return c.shielded(func() int {
		code, err := c.dispatch(args)
		if err != nil {
			return c.fail(err)
		}
		return code
	})
}

// shielded makes a panic an exit code of its own, since Go's would be that of a usage
// error, and says what to do with it.
func (c *call) shielded(f func() int) (code int) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		stack := debug.Stack()
		if bug, ok := value.(launcher.Bug); ok {
			stack = bug.Stack
		}
		fmt.Fprintf(c.std.Err, "lenslaunch: internal error, a bug; please report it with what follows: %s\n%s",
			oneLine(fmt.Sprint(value)), stack)
		code = launcher.ExitInternal
	}()
	return f()
}

// call is one invocation of the program.
type call struct {
	env map[string]string
	std Streams
	inv invocation
}

// environment is the process's environment as a map. As getenv does, the first of
// two entries with one name wins.
func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		key, value, ok := strings.Cut(entry, "=")
		if _, known := env[key]; ok && !known {
			env[key] = value
		}
	}
	return env
}

func (c *call) dispatch(args []string) (int, error) {
	inv, err := split(args)
	if err != nil {
		return launcher.ExitUsage, err
	}
	c.inv = inv
	if inv.asked("help") {
		return c.help()
	}
	if inv.asked("version") {
		return c.version()
	}
	switch inv.sub {
	case "run":
		return c.run()
	case "env":
		return c.showEnv()
	case "detect":
		return c.detect()
	case "carrier":
		return c.carrier()
	case "uuid":
		return c.uuid()
	case "doctor":
		return c.doctor()
	case "report":
		return c.report()
	case "journal":
		return c.journal()
	case "logs":
		return c.logs()
	case "top":
		return c.top()
	case "version":
		return c.version()
	case "help":
		return c.help()
	}
	return launcher.ExitUsage, misuse("to run a program of that name, write: lenslaunch -- "+inv.sub,
		"%s is reserved for a subcommand that this version does not have", inv.sub)
}

// asked reports whether a global switch such as --help was given.
func (inv invocation) asked(name string) bool {
	for _, f := range inv.flags {
		if f == "--"+name {
			return true
		}
	}
	return false
}

// fail prints an error as one line and returns its exit code.
func (c *call) fail(err error) int {
	code := launcher.ExitUsage
	var failure *launcher.Failure
	var misused *usageError
	var world *ranks.UsageError
	switch {
	case errors.As(err, &failure):
		code = failure.Code
	case errors.As(err, &misused), errors.As(err, &world):
	default:
		code = launcher.ExitInternal
	}
	fmt.Fprintln(c.std.Err, "lenslaunch:", oneLine(err.Error()))
	return code
}

// oneLine keeps a value with line ends in it from making an error look like two.
func oneLine(text string) string {
	return strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(text)
}

// settings parses the flags of the invocation.
func (c *call) settings(table []flagSpec) (settings, error) {
	return parse(c.inv.flags, append(table, globalFlags()...), c.env)
}

// exitNo is the code of a subcommand that was used rightly and cannot answer: no
// UUID to derive, a carrier that is not right, a full disk behind stdout.
const exitNo = 1

// print writes to stdout. A disk that is full is not our bug, and not the caller's.
func (c *call) print(text string) (int, error) {
	if _, err := io.WriteString(c.std.Out, text); err != nil {
		return exitNo, &launcher.Failure{Code: exitNo, Problem: fmt.Sprintf("cannot write to stdout: %v", err)}
	}
	return launcher.ExitOK, nil
}
