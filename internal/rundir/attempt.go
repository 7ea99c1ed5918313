package rundir

import "sync"

// Attempt is an attempt's directory.
type Attempt struct {
	dir    *Dir
	name   string
	path   string
	inUse  sync.RWMutex // held while the directory must stay open
	folder folder

	mu      sync.Mutex
	streams map[string]*streamState // by name of its file
}

// Name is attempt-<n>.
func (a *Attempt) Name() string { return a.name }

// Path is the attempt's directory, absolute.
func (a *Attempt) Path() string { return a.path }

// Close says that no file of the attempt will be opened or rotated any more: a file that
// is open can still be written. The attempt before the last, and [Dir.Close], close it
// as well.
func (a *Attempt) Close() {
	a.inUse.Lock()
	defer a.inUse.Unlock()
	a.folder.Close()
}

// use gives the directory to fn, and keeps it open meanwhile: its descriptor could be
// something else's the moment after.
func (a *Attempt) use(fn func(folder) error) error {
	a.inUse.RLock()
	defer a.inUse.RUnlock()
	return fn(a.folder)
}
