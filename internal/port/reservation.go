package port

import (
	"slices"
	"sync"
)

// Reservation holds one or more neighbouring ports until it is closed or the
// process ends, however it ends. Its descriptors are close-on-exec: no rank
// inherits one. It is safe for concurrent use.
type Reservation struct {
	mu      sync.Mutex
	ports   []int
	fds     []int
	release func(fd int)
}

func (r *Reservation) add(port, fd int) {
	r.ports = append(r.ports, port)
	r.fds = append(r.fds, fd)
}

// Port is the first port, the one to publish.
func (r *Reservation) Port() int { return r.ports[0] }

// Ports lists all ports held, ascending and without a gap. It has at least one
// entry and may have fewer than were asked for.
func (r *Reservation) Ports() []int { return slices.Clone(r.ports) }

// Close gives the ports back. It may be called more than once. A store that
// listens on one of them is not disturbed.
func (r *Reservation) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fd := range r.fds {
		r.release(fd)
	}
	r.fds = nil
}
