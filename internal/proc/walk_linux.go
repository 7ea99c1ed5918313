package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Descendants returns every process below root, zombies too, parents first. What
// skip chooses is left out with all below it; nil skips nothing. The error is
// os.ErrNotExist if root has ended. A process that is being born or given another
// parent meanwhile may be missed: look again until nothing is new.
func Descendants(root ID, skip func(ID) bool) ([]Stat, error) {
	var list []Stat
	err := Walk(root, func(st Stat) bool {
		if skip != nil && skip(st.ID) {
			return false
		}
		list = append(list, st)
		return true
	})
	return list, err
}

// Walk is Descendants for a caller that acts on each process as soon as it is
// found: what is stopped by visit has no further children when Walk comes to them.
// visit says whether to go on below the process.
func Walk(root ID, visit func(Stat) bool) error { return system.walk(root, visit) }

func (p procfs) walk(root ID, visit func(Stat) bool) error {
	children, err := p.lister()
	if err != nil {
		return err
	}
	if st, err := p.stat(root.Pid); err != nil || st.ID != root {
		return fmt.Errorf("cannot list what is below %v: %w", root, orGone(err))
	}
	seen := map[ID]bool{root: true} // one that gets another parent meanwhile may come twice
	for queue := []ID{root}; len(queue) > 0; queue = queue[1:] {
		kids, err := p.kids(queue[0], children)
		if err != nil && !Gone(err) {
			return err
		}
		for _, st := range kids {
			if seen[st.ID] {
				continue
			}
			seen[st.ID] = true
			if visit(st) && !st.Dead() {
				queue = append(queue, st.ID)
			}
		}
	}
	return nil
}

// kids returns the children of exactly this parent.
func (p procfs) kids(parent ID, children func(int) ([]int, error)) ([]Stat, error) {
	pids, err := children(parent.Pid)
	if err != nil || len(pids) == 0 {
		return nil, err
	}
	var kids []Stat
	for _, pid := range pids {
		st, err := p.stat(pid)
		if err != nil && !Gone(err) {
			return nil, err
		}
		// The pid was a hint: it may have gone to a process that is no child.
		if err == nil && st.Parent == parent.Pid {
			kids = append(kids, st)
		}
	}
	// And the parent's pid may have gone to another. Still the parent now, it was so
	// when its children named it.
	if st, err := p.stat(parent.Pid); err != nil || st.ID != parent {
		return nil, orGone(err)
	}
	return kids, nil
}

// orGone is the error of a look at a process, or that it is another by now.
func orGone(err error) error {
	if err == nil {
		return os.ErrNotExist
	}
	return err
}

// lister returns how to list children's pids: from the kernel's own lists, or by
// one scan of all processes where it was built without them (CONFIG_PROC_CHILDREN).
func (p procfs) lister() (func(int) ([]int, error), error) {
	if _, err := os.Stat(string(p) + "/thread-self/children"); err == nil {
		return p.children, nil
	}
	all, err := p.all()
	if err != nil {
		return nil, err
	}
	below := make(map[int][]int, len(all))
	for _, st := range all {
		below[st.Parent] = append(below[st.Parent], st.Pid)
	}
	return func(pid int) ([]int, error) { return below[pid], nil }, nil
}

// children reads the kernel's lists: a child is in that of the thread it was forked
// by, or has been given to. The pids are hints, since each may have ended since.
func (p procfs) children(pid int) ([]int, error) {
	tasks := p.path(pid) + "/task"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil, err
	}
	threads, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, thread := range threads {
		list, err := p.ofThread(pid, thread)
		if err != nil && !Gone(err) { // a thread that has ended: its children went to another
			return nil, fmt.Errorf("cannot list the children of pid %d: %w", pid, err)
		}
		pids = append(pids, list...)
	}
	return pids, nil
}

// ofThread reads one of the kernel's lists.
func (p procfs) ofThread(pid int, thread string) (pids []int, err error) {
	text, err := readFile(p.path(pid) + "/task/" + thread + "/children")
	for _, field := range bytes.Fields(text) {
		if child, err := strconv.Atoi(string(field)); err == nil && child > 0 {
			pids = append(pids, child)
		}
	}
	return pids, err
}

// adopted lists the children of this process that it was given, and maybe others: the
// kernel gives an orphan to the first thread that is not ending, which in a Go program
// is always the one that it began with. Asking for the others' children at every end
// would take longer than all the rest.
func (p procfs) adopted() ([]int, error) {
	self := os.Getpid()
	if pids, err := p.ofThread(self, strconv.Itoa(self)); err == nil {
		return pids, nil
	}
	list, err := p.lister() // a kernel without these lists
	if err != nil {
		return nil, err
	}
	return list(self)
}
