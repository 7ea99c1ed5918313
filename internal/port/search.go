package port

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// A binder binds one port and returns the descriptor that holds it. taken says
// that this port is not to be had but another may be; any other error ends the
// search, because the next port would meet it too.
type binder func(port int) (fd int, taken bool, err error)

// search reserves count ports in a row, or as many as can be had (at least
// one). Ports outside the ephemeral range come first, even if the run is
// shorter there: inside it, a neighbour's outgoing connection may sit on the
// very port that a store wants later.
func search(r, ephemeral Range, count int, bind binder, release func(fd int)) (*Reservation, error) {
	for _, pieces := range [][]Range{r.minus(ephemeral), r.and(ephemeral)} {
		for n := count; n >= 1; n-- {
			for first := range starts(pieces, n) {
				res, err := run(first, n, bind, release)
				if res != nil || err != nil {
					return res, err
				}
			}
		}
	}
	return nil, fmt.Errorf("cannot reserve a port: all %d ports of the range %s are taken or not allowed: free one or choose another range", r.Size(), r)
}

// starts yields in random order every port at which a run of n ports fits into
// one of the pieces. Random, because launches that start at the same moment
// would otherwise walk the range side by side and meet at every port. A random
// stride that shares no factor with the number of places visits each of them
// once, without a list of ten thousand to shuffle at every launch.
func starts(pieces []Range, n int) iter.Seq[int] {
	places := 0
	for _, piece := range pieces {
		places += max(0, piece.Size()-n+1)
	}
	return func(yield func(int) bool) {
		if places == 0 {
			return
		}
		place, stride := rand.IntN(places), coprime(places)
		for range places {
			if !yield(nth(pieces, n, place)) {
				return
			}
			place = (place + stride) % places
		}
	}
}

// coprime returns a random number in 1..n without a common factor with n.
func coprime(n int) int {
	for {
		a := 1 + rand.IntN(n)
		x, y := a, n
		for y != 0 {
			x, y = y, x%y
		}
		if x == 1 {
			return a
		}
	}
}

// nth returns the port at which the run number place begins.
func nth(pieces []Range, n, place int) int {
	for _, piece := range pieces {
		fits := max(0, piece.Size()-n+1)
		if place < fits {
			return piece.First + place
		}
		place -= fits
	}
	return 0 // not reached: place counts the places that fit
}

// run binds exactly the n ports from first on, or holds none of them.
func run(first, n int, bind binder, release func(fd int)) (*Reservation, error) {
	res := &Reservation{release: release}
	for port := first; port < first+n; port++ {
		fd, taken, err := bind(port)
		if err == nil && !taken {
			res.add(port, fd)
			continue
		}
		res.Close()
		if err != nil {
			return nil, fmt.Errorf("cannot reserve port %d: %w", port, err)
		}
		return nil, nil
	}
	return res, nil
}
