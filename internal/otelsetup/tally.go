package otelsetup

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// tally counts spans on their way to the collector.
type tally struct {
	started  atomic.Int64 // sampled spans
	exported atomic.Int64 // those that an exporter got rid of
	waiting  atomic.Int64 // those in the queue or in an export

	mu    sync.Mutex
	cause error // why spans were lost: the last reason that says something
	since bool  // it is older than the last export that succeeded
}

var errQueueFull = errors.New("the queue was full: the collector is too slow or does not answer")

// exportedWith counts n spans that were given to an exporter which returned
// err. A collector may accept part of a batch.
func (t *tally) exportedWith(n int, err error) {
	if err == nil {
		t.exported.Add(int64(n))
		t.arrived()
		return
	}
	t.exported.Add(int64(n - min(rejected(err, n), n)))
	t.lose(err)
}

// lose notes why spans were lost. What is given up without having been tried says less
// than the refusal that came before: "connection refused" is what somebody can repair.
func (t *tally) lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cause == nil || t.since || err.Error() != errGivenUp.Error() {
		t.cause, t.since = err, false
	}
}

// arrived notes that an earlier reason is none any more for what comes.
func (t *tally) arrived() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = true
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

// longestReason is what a warning says of an error, in bytes: a proxy that answers in a
// collector's place sends pages.
const longestReason = 512

// oneLine makes a warning's worth of an error: joined errors have a line each, and what a
// server wrote in it neither moves the cursor nor fills the screen.
func oneLine(err error) string {
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) <= longestReason {
		return text
	}
	return strings.ToValidUTF8(text[:longestReason], "") + " ..."
}
