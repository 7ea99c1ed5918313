package tree

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/proc"
)

// A stage is one fake launcher with the processes of its attempt.
type stage struct {
	t        *testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *json.Decoder
	roll     *os.File
	write    *os.File       // the roll's other end, open until everybody is to be gone
	lines    *bufio.Scanner // of the roll
	cast     []actorLine    // enrolled processes of the attempt
	spared   []actorLine    // enrolled, but none of it: the guard and its child
	innocent []*exec.Cmd
}

type actorLine struct {
	Name string
	ID   proc.ID
}

// patience bounds every wait of a test; nothing takes a hundredth of it.
const patience = 60 * time.Second

// open starts a launcher and waits until everybody is ready: a rank enrolls after
// its offspring, and so does the guard.
func open(t *testing.T, cmd *exec.Cmd, ranks int) *stage {
	t.Helper()
	s := &stage{t: t, cmd: cmd}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.roll, s.lines = r, bufio.NewScanner(r)
	_ = r.SetReadDeadline(time.Now().Add(patience))
	cmd.ExtraFiles = []*os.File{w, null(t)}
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	s.write = w
	s.in, s.out = in, json.NewDecoder(out)
	t.Cleanup(s.clear)
	s.assemble(ranks)
	return s
}

// assemble reads the roll until the ranks and the guard are there.
func (s *stage) assemble(ranks int) {
	s.t.Helper()
	// The guard's offspring and the guard call themselves the same as a rank's.
	for leaders := 0; leaders < ranks+1; {
		line, ok := s.next()
		if !ok {
			s.t.Fatalf("not everybody came: %v", s.cast)
		}
		if line.Name == "rank" {
			leaders++
		}
		s.cast = append(s.cast, line)
	}
	f := s.finder()
	var cast []actorLine
	for _, line := range s.cast {
		if s.spares(line, f) {
			s.spared = append(s.spared, line)
		} else {
			cast = append(cast, line)
		}
	}
	s.cast = cast
}

// spares reports whether a process is excluded from the attempt, or the child of one
// that is.
func (s *stage) spares(line actorLine, f Finder) bool {
	for _, id := range slices.Concat(f.Exclude, f.Strangers) {
		if st := ask[proc.Stat](s, "state", line.ID.Pid); line.ID == id || st.Parent == id.Pid {
			return true
		}
	}
	return false
}

// next reads a line of the roll; false at its end.
func (s *stage) next() (actorLine, bool) {
	s.t.Helper()
	if !s.lines.Scan() {
		if err := s.lines.Err(); err != nil {
			s.t.Fatalf("somebody still holds the roll: %v", err)
		}
		return actorLine{}, false
	}
	text := s.lines.Text()
	cut := strings.LastIndexByte(text[:strings.LastIndexByte(text, ' ')], ' ')
	line := actorLine{Name: text[:cut]}
	if _, err := fmt.Sscan(text[cut:], &line.ID.Pid, &line.ID.Start); err != nil {
		s.t.Fatalf("%q: %v", text, err)
	}
	return line, true
}

// ask gives a command and reads the answer.
func ask[T any](s *stage, command string, args ...any) (answer T) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, command+" "+strings.TrimSuffix(fmt.Sprintln(args...), "\n")+"\n"); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	if err := s.out.Decode(&answer); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return answer
}

func (s *stage) finder() Finder { s.t.Helper(); return ask[Finder](s, "finder") }

// sweep has the launcher end its attempt.
func (s *stage) sweep() Result { s.t.Helper(); return ask[Result](s, "sweep", patience.Milliseconds()) }

// nobodyLives checks that no process of the attempt is left, not even as a zombie of
// the launcher, and that the guard was spared.
func (s *stage) nobodyLives() {
	s.t.Helper()
	for _, line := range s.cast {
		if st := ask[proc.Stat](s, "state", line.ID.Pid); st.ID == line.ID {
			s.t.Errorf("%s is left: %+v", line.Name, st)
		}
	}
	for _, st := range ask[[]proc.Stat](s, "below") {
		if !slices.ContainsFunc(s.spared, func(line actorLine) bool { return line.ID == st.ID }) {
			s.t.Errorf("below the launcher is left: %+v", st)
		}
	}
	for _, line := range s.spared {
		if st := ask[proc.Stat](s, "state", line.ID.Pid); st.ID != line.ID || st.Dead() || st.State == 'T' {
			s.t.Errorf("the guard or its child was killed: %v", line)
		}
	}
	s.innocentsLive()
}

// empty ends launcher and guard, and waits until nobody holds the roll any more.
func (s *stage) empty() {
	s.t.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the launcher: %v", err)
	}
	s.ends()
}

// ends waits for the end of the roll; whoever enrolls late is shown.
func (s *stage) ends() {
	s.t.Helper()
	s.write.Close()
	for _, line := range s.spared {
		kill(line.ID)
	}
	for line, ok := s.next(); ok; line, ok = s.next() {
		s.t.Logf("late: %+v", line)
	}
}

// sibling starts a process that has nothing to do with the attempt but resembles it.
func (s *stage) sibling(env ...string) proc.ID {
	s.t.Helper()
	cmd := exec.Command("/proc/self/exe", helperWord, "sit", "innocent")
	cmd.Args[0] = "actor"
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	cmd.Env, cmd.ExtraFiles = append(env, "GORACE=atexit_sleep_ms=0"), []*os.File{w, w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	s.innocent = append(s.innocent, cmd)
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
	st, err := proc.ReadStat(cmd.Process.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return st.ID
}

// innocentsLive checks that the siblings run, and are not stopped.
func (s *stage) innocentsLive() {
	s.t.Helper()
	for _, cmd := range s.innocent {
		st, err := proc.ReadStat(cmd.Process.Pid)
		if err != nil || st.Dead() || st.State == 'T' {
			s.t.Errorf("an innocent sibling was harmed: %+v, %v, environment %q", st, err, cmd.Env)
		}
	}
}

// clear leaves nothing of the stage, however the test went.
func (s *stage) clear() {
	s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	for _, line := range append(s.cast, s.spared...) {
		kill(line.ID)
	}
	for _, cmd := range s.innocent {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	s.roll.Close()
	s.write.Close()
}

// null stands for a pipe that nobody reads.
func null(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// kill ends exactly this process, if it lives.
func kill(id proc.ID) {
	if h, err := proc.Hold(id); err == nil {
		_ = h.Signal(syscall.SIGKILL)
		h.Close()
	}
}
