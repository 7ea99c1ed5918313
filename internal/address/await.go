package address

import (
	"context"
	"net/netip"
	"time"
)

// Delays between two lookups of a name that does not resolve yet. Name servers keep
// "no such name" for 30 s, so to ask more often than that for long is of no use.
const (
	firstDelay = 250 * time.Millisecond
	lastDelay  = 15 * time.Second
)

// Await looks a name up until it resolves, with growing delays, or until ctx is over;
// then it returns the last error. waiting, if not nil, is called once, when the first
// lookup has failed. In Kubernetes a pod's name resolves only once the pod has an
// address.
func (n Network) Await(ctx context.Context, name string, waiting func(error)) ([]netip.Addr, error) {
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		list, err := n.Lookup(ctx, name)
		if err == nil {
			return list, nil
		}
		if waiting != nil {
			waiting(err)
			waiting = nil
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
	}
}
