package tree

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"lenslaunch/internal/proc"
)

// Variable is the environment variable that tells an attempt's processes.
const Variable = "LENSLAUNCH_MARK"

// Mark is the name of one attempt, unlike that of every other on this machine at any
// time. As text (String) it can be handed to a guard or kept in a file.
type Mark struct {
	Launcher proc.ID // who started the attempt; no process of it is older
	Boot     string  // 32 hexadecimal digits, new at each boot of the machine
	Attempt  int     // number within the launcher's run, from 0
	Random   uint64  // launchers in two containers may agree in all the rest
}

// NewMark makes the mark of this process's attempt of that number.
func NewMark(attempt int) (Mark, error) {
	self, err := proc.ReadStat(os.Getpid())
	if err != nil {
		return Mark{}, fmt.Errorf("cannot mark an attempt: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return Mark{}, fmt.Errorf("cannot mark an attempt: %w", err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return Mark{Launcher: self.ID, Boot: boot, Attempt: attempt, Random: binary.NativeEndian.Uint64(random[:])}, nil
}

// bootID reads the machine's number of this boot, without its dashes.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	id := strings.ReplaceAll(strings.TrimSpace(string(text)), "-", "")
	if !isBoot(id) {
		return "", fmt.Errorf("unexpected boot id %q", id)
	}
	return id, nil
}

func isBoot(text string) bool {
	return len(text) == 32 && strings.Trim(text, "0123456789abcdef") == ""
}

// String is the mark's token: letters, digits and dots.
func (m Mark) String() string {
	return fmt.Sprintf("ll1.%d.%d.%s.%d.%016x", m.Launcher.Pid, m.Launcher.Start, m.Boot, m.Attempt, m.Random)
}

// Value is what Variable holds in the environment of a rank, by its local number.
func (m Mark) Value(local int) string { return m.String() + "/" + strconv.Itoa(local) }

// IsZero reports whether there is no mark.
func (m Mark) IsZero() bool { return m == Mark{} }

// MarshalText makes the mark a string in JSON.
func (m Mark) MarshalText() ([]byte, error) {
	if m.IsZero() {
		return nil, nil
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (m *Mark) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = Mark{}
		return nil
	}
	mark, ok := ParseMark(string(text))
	if !ok {
		return fmt.Errorf("cannot read a mark: %.100q is none", text)
	}
	*m = mark
	return nil
}

// ParseMark reads a token. Only exactly what String writes is one.
func ParseMark(token string) (Mark, bool) {
	fields := strings.Split(token, ".")
	if len(fields) != 6 || fields[0] != "ll1" || !isBoot(fields[3]) {
		return Mark{}, false
	}
	pid, err1 := strconv.Atoi(fields[1])
	start, err2 := strconv.ParseUint(fields[2], 10, 64)
	attempt, err3 := strconv.Atoi(fields[4])
	random, err4 := strconv.ParseUint(fields[5], 16, 64)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || pid < 1 || attempt < 0 {
		return Mark{}, false
	}
	m := Mark{Launcher: proc.ID{Pid: pid, Start: start}, Boot: fields[3], Attempt: attempt, Random: random}
	// Numbers have many spellings ("+1", "01", "0A"); ours is one of them.
	return m, m.String() == token
}
