package otelsetup

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// tally counts spans from their end to the collector.
type tally struct {
	ended    atomic.Int64 // sampled spans that ended
	exported atomic.Int64 // those that an exporter got rid of
	waiting  atomic.Int64 // those in the queue or in an export

	mu    sync.Mutex
	cause error // the last reason why spans were lost
}

var errQueueFull = errors.New("the queue was full: the collector is too slow or does not answer")

// exportedWith counts n spans that were given to an exporter which returned
// err. A collector may accept part of a batch.
func (t *tally) exportedWith(n int, err error) {
	lost := 0
	if err != nil {
		lost = min(rejected(err, n), n)
		t.lose(err)
	}
	t.exported.Add(int64(n - lost))
}

// lose notes why spans were lost.
func (t *tally) lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cause = err
}

func (t *tally) lastCause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cause
}

// partial is the text of the exporters' error about a batch that was accepted
// in part. Its type is internal to the exporters, so there is only the text.
var partial = regexp.MustCompile(`^(?:traces export: )?OTLP partial success: (?s:.*)\((\d+) spans rejected\)$`)

// rejected is how many of n spans an error means.
func rejected(err error, n int) int {
	if match := partial.FindStringSubmatch(err.Error()); match != nil {
		if count, err := strconv.Atoi(match[1]); err == nil {
			return count
		}
	}
	return n
}

// oneLine makes a warning's worth of an error: joined errors have a line each.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
