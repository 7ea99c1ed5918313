package proc

import "os/exec"

// StartDetached starts a process that is to outlive this one: no parent-death
// signal, and what cmd.SysProcAttr says of sessions and groups stands.
func (s *Spawner) StartDetached(cmd *exec.Cmd) (*Child, error) {
	var child *Child
	var err error
	s.Do(func() { child, err = s.launch(cmd) })
	return child, err
}

// StartBound is Start with bind run before on the same thread, whose affinity and
// memory policy the child inherits, and what bind returns run after it.
func (s *Spawner) StartBound(cmd *exec.Cmd, bind func() (restore func(), err error)) (*Child, error) {
	var child *Child
	var err error
	s.Do(func() {
		var restore func()
		if restore, err = bind(); err != nil {
			return
		}
		defer restore()
		child, err = s.start(cmd)
	})
	return child, err
}
