package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What adopts orphans is tested in a process of its own, since that process takes
// over the orphans of every test that runs in it. It prints what is wrong.

func adopterChecks() map[string]func(*Spawner) error {
	return map[string]func(*Spawner) error{
		"check-orphans":   checkOrphans,
		"check-own":       checkOwn,
		"check-storm":     checkStorm,
		"check-aside":     checkAside,
		"check-strangers": checkStrangers,
	}
}

func TestReapOrphans(t *testing.T) {
	for name := range adopterChecks() {
		t.Run(name, func(t *testing.T) {
			cmd := helper(name)
			if name == "check-strangers" {
				env := cmd.Env
				cmd = exec.Command("sh", "-c", `PROC_TEST_HELPER=hang "$0" >&2 & exec "$0"`, os.Args[0])
				cmd.Env = env
			}
			out, err := cmd.Output()
			if err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func adopt(check func(*Spawner) error) int {
	err := BecomeSubreaper()
	var s *Spawner
	if err == nil {
		s, err = NewSpawner()
	}
	if err == nil {
		defer s.Close()
		err = check(s)
	}
	if err == nil {
		err = childless()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// childless says which children this process has, zombies too.
func childless() error {
	self, err := ReadStat(os.Getpid())
	if err != nil {
		return err
	}
	list, err := Descendants(self.ID, nil)
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("left at the end: %+v", list)
	}
	return err
}

// leave starts a helper that leaves n processes behind, and returns those once the
// helper has ended.
func leave(s *Spawner, n int) (*Child, []*Handle, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	cmd := helper("leave", strconv.Itoa(n))
	cmd.Stdout = w
	c, err := s.Start(cmd)
	w.Close()
	if err != nil {
		return nil, nil, err
	}
	var held []*Handle
	for lines := bufio.NewScanner(r); len(held) < n && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			return nil, nil, err
		}
		st, err := ReadStat(pid)
		if err != nil {
			return nil, nil, err
		}
		h, err := Hold(st.ID)
		if err != nil {
			return nil, nil, err
		}
		held = append(held, h)
	}
	if len(held) < n {
		return nil, nil, errors.New("the helper left too few")
	}
	_, err = c.Wait()
	return c, held, err
}

// end kills what is held and waits until it is gone.
func end(held []*Handle) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, h := range held {
		if err := h.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		h.Close()
	}
	return nil
}

// Orphans become ours, live on unharmed, and are collected when they have ended.
func checkOrphans(s *Spawner) error {
	const orphans = 3
	c, held, err := leave(s, orphans)
	if err != nil {
		return err
	}
	for _, h := range held {
		if st, err := ReadStat(h.Pid); err != nil || st.Parent != os.Getpid() {
			return fmt.Errorf("not adopted: %+v, %v", st, err)
		}
	}
	if n := s.ReapOrphans(); n != 0 {
		return fmt.Errorf("%d reaped while all live", n)
	}
	if err := end(held); err != nil {
		return err
	}
	if n := s.ReapOrphans(); n != orphans {
		return fmt.Errorf("%d reaped, want %d", n, orphans)
	}
	c.Reap()
	return nil
}

// The status of an own child is not taken from its waiter.
func checkOwn(s *Spawner) error {
	c, err := s.Start(helper("exit", "3"))
	if err != nil {
		return err
	}
	if _, err := c.Wait(); err != nil {
		return err
	}
	if n := s.ReapOrphans(); n != 0 {
		return fmt.Errorf("%d reaped beside an own zombie", n)
	}
	c.Reap()
	if st := c.cmd.ProcessState; st == nil || st.ExitCode() != 3 {
		return fmt.Errorf("status after ReapOrphans: %v", st)
	}
	return nil
}

// Children that end at once keep their status, however often orphans are collected
// meanwhile (containerd/containerd#1452).
func checkStorm(s *Spawner) error {
	stop := make(chan struct{})
	var reaper, waiters sync.WaitGroup
	reaper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.ReapOrphans()
			}
		}
	})
	const children = 40
	failed := make(chan error, children)
	for range children {
		c, err := s.Start(exec.Command("false"))
		if err != nil {
			return err
		}
		waiters.Go(func() {
			exit, err := c.Wait()
			c.Reap()
			if st := c.cmd.ProcessState; err != nil || exit.Code != 1 || st == nil || st.ExitCode() != 1 {
				failed <- fmt.Errorf("child lost its status: %v, %v, %v", exit, err, st)
			}
		})
	}
	waiters.Wait()
	close(stop)
	reaper.Wait()
	close(failed)
	return <-failed
}

// Programs that others run by os/exec keep their status inside Aside, and orphans
// that ended meanwhile are collected after it.
func checkAside(s *Spawner) error {
	c, held, err := leave(s, 1)
	if err != nil {
		return err
	}
	s.Aside(func() {
		err = end(held)
		for range 20 {
			cmd := exec.Command("false")
			if err = errors.Join(err, cmd.Start()); err != nil {
				return
			}
			for st, e := ReadStat(cmd.Process.Pid); e == nil && !st.Dead(); st, e = ReadStat(cmd.Process.Pid) {
				runtime.Gosched()
			}
			if n := s.ReapOrphans(); n != 0 {
				err = fmt.Errorf("%d reaped inside Aside", n)
			}
			if ended := new(exec.ExitError); !errors.As(cmd.Wait(), &ended) || ended.ExitCode() != 1 {
				err = fmt.Errorf("status inside Aside: %v", ended)
			}
		}
	})
	c.Reap()
	return err // childless proves that the orphan was collected
}

// A child from before is known as a stranger; its zombie is collected all the same.
func checkStrangers(s *Spawner) error {
	strangers := s.Strangers()
	if len(strangers) != 1 || !strangers[0].Alive() {
		return fmt.Errorf("strangers: %v", strangers)
	}
	c, err := s.Start(helper("exit", "0"))
	if err != nil {
		return err
	}
	if _, err := c.Wait(); err != nil {
		return err
	}
	c.Reap()
	h, err := Hold(strangers[0])
	if err != nil {
		return err
	}
	if err := end([]*Handle{h}); err != nil {
		return err
	}
	if n := s.ReapOrphans(); n != 1 || len(s.Strangers()) != 1 {
		return fmt.Errorf("%d reaped, want the stranger", n)
	}
	return nil
}

// helpMore are further behaviours of helpers.
func helpMore(behaviour string) int {
	switch behaviour {
	case "leave": // starts processes, says their pids and ends
		n, _ := strconv.Atoi(os.Args[1])
		for range n {
			cmd := exec.Command("sleep", "1000")
			if cmd.Start() != nil {
				return 9
			}
			fmt.Println(cmd.Process.Pid)
		}
		return 0
	case "lose-main-thread":
		loseMainThread()
	case "no-descriptors":
		fmt.Println(withoutDescriptors())
		return 0
	}
	return 8
}

// loseMainThread ends the first thread of this process, as pthread_exit in main does,
// while others run on.
func loseMainThread() {
	go func() {
		for {
			if st, err := ReadStat(os.Getpid()); err == nil && st.State == 'Z' {
				fmt.Println("ready")
				hang()
			}
			runtime.Gosched()
		}
	}()
	hunt()
}

func hunt() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	}
	go hunt() // another thread than this one, which is kept
	hang()
}

// withoutDescriptors says what Hold answers where none is left.
func withoutDescriptors() string {
	parent, err := ReadStat(os.Getppid())
	if err != nil {
		return err.Error()
	}
	for err == nil {
		_, err = syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	_, hold := Hold(parent.ID)
	_, refer := Refer(parent.ID)
	return strings.TrimSpace(fmt.Sprint(errors.Is(hold, syscall.EMFILE), errors.Is(refer, syscall.EMFILE), parent.Alive()))
}
