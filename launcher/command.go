package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// findCommand resolves COMMAND as a shell in dir would: a name with a slash is a
// path, any other is looked up along path. It tells 127 (not found) from 126
// (found, but not to be executed) before anything starts.
func findCommand(name, dir, path string) (string, *Failure) {
	if name == "" {
		return "", usage("the command is empty", "give the program to run, as in `lenslaunch --nproc 8 -- python train.py`")
	}
	if strings.Contains(name, "/") {
		return name, executable(under(dir, name), name)
	}
	var denied *Failure
	for _, entry := range filepath.SplitList(path) {
		if entry == "" {
			entry = "."
		}
		file := filepath.Join(entry, name)
		failure := executable(under(dir, file), name)
		if failure == nil {
			return absolute(file, dir), nil
		}
		if failure.Code == ExitNotExecutable && denied == nil {
			denied = failure
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &Failure{
		Code: ExitNotFound, Problem: fmt.Sprintf("cannot run %q: command not found", name),
		Hint: "it is in no directory of PATH; write its path, or check the spelling",
	}
}

// executable says why a file cannot be executed, nil if it can.
func executable(file, name string) *Failure {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return &Failure{Code: ExitNotFound, Problem: fmt.Sprintf("cannot run %q: no such file", name)}
	case err != nil:
		return &Failure{Code: ExitNotExecutable, Problem: fmt.Sprintf("cannot run %q: %v", name, cause(err))}
	case info.IsDir():
		return &Failure{
			Code: ExitNotExecutable, Problem: fmt.Sprintf("cannot run %q: it is a directory", name),
			Hint: "give the program in it",
		}
	case info.Mode()&0o111 == 0:
		return &Failure{
			Code: ExitNotExecutable, Problem: fmt.Sprintf("cannot run %q: it is not executable", name),
			Hint: "`chmod +x` it, or name its interpreter, as in `python " + name + "`",
		}
	}
	return nil
}

// under is a file as seen from dir.
func under(dir, file string) string {
	if dir == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// absolute makes a result of the PATH search independent of the directory that the
// worker starts in.
func absolute(file, dir string) string {
	if abs, err := filepath.Abs(under(dir, file)); err == nil {
		return abs
	}
	return file
}

// cause is the innermost reason of a file error, without the path that the message
// names already.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
