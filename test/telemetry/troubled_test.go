//go:build telemetry && linux

package telemetry

import (
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"lenslaunch/test/collector"
)

// bound is what telemetry costs a job at most at its end, whatever the Collector does
// (the telemetry specification).
const bound = 2 * time.Second

// trouble is a Collector that is none, or not a good one.
type trouble struct {
	name  string
	begin func(t *testing.T, protocol string) peer
	lost  fate
	ranks int
}

// peer is what the launcher sends to.
type peer struct {
	address   string
	collector *collector.Collector // that has what arrived; nil where nothing can
	between   func()               // before the word is given
}

// fate is what becomes of the spans.
type fate int

const (
	allLost  fate = iota // and the launcher knows it
	lateLost             // those that end after the word is given, at least
	allKnown             // each arrives, or is said to be lost, or both
)

var troubles = []trouble{
	{name: "absent", begin: only(absent), lost: allLost, ranks: few},
	{name: "silent", begin: only(silent), lost: allLost, ranks: few},
	{name: "black hole", begin: only(hole), lost: allLost, ranks: few},
	{name: "of the other protocol", begin: other, lost: allLost, ranks: few},
	{name: "slow", begin: late(100 * time.Millisecond), lost: allKnown, ranks: few},
	{name: "too slow", begin: late(2 * bound), lost: allLost, ranks: few},
	{name: "killed in the middle", begin: struck((*collector.Collector).Kill), lost: lateLost, ranks: few},
	{name: "stuck in the middle", begin: struck((*collector.Collector).Freeze), lost: lateLost, ranks: few},
	// What fits into its buffer of 4 KiB is taken and then lost by the Collector itself:
	// only with so many spans does it notice in time to refuse some.
	{name: "disk full", begin: full, lost: lateLost, ranks: many},
}

func only(address func(t *testing.T) string) func(*testing.T, string) peer {
	return func(t *testing.T, _ string) peer { return peer{address: address(t), between: func() {}} }
}

// other is a port that is mistaken for its neighbour's.
func other(t *testing.T, protocol string) peer {
	c := collector.Start(t, collector.Options{})
	address := c.Address(collector.GRPC)
	if protocol == collector.GRPC {
		address = c.Address(collector.HTTP)
	}
	return peer{address: address, collector: c, between: func() {}}
}

func late(by time.Duration) func(*testing.T, string) peer {
	return func(t *testing.T, protocol string) peer {
		c := collector.Start(t, collector.Options{})
		return peer{address: slow(t, c, protocol, by), collector: c, between: func() {}}
	}
}

func full(t *testing.T, protocol string) peer {
	c := collector.Start(t, collector.Options{Full: true})
	return peer{address: c.Address(protocol), between: func() {}}
}

// struck is a Collector to which something happens once a span has arrived.
func struck(strike func(*collector.Collector)) func(*testing.T, string) peer {
	return func(t *testing.T, protocol string) peer {
		c := collector.Start(t, collector.Options{})
		return peer{address: c.Address(protocol), collector: c, between: func() {
			c.Await(t, func(spans []*tracepb.Span) bool { return len(spans) > 0 })
			strike(c)
		}}
	}
}

// Whatever a Collector does, a job ends as without telemetry: with the same exit code,
// at most so much later, and with one line that says how many spans were lost.
func TestCollectorInTrouble(t *testing.T) {
	for _, protocol := range protocols {
		for _, j := range jobs {
			t.Run(strings.TrimSuffix(protocol, "/protobuf")+" "+j.name, func(t *testing.T) {
				healthy := map[int]census{few: j.census(t, few, protocol), many: j.census(t, many, protocol)}
				for _, trouble := range troubles {
					t.Run(trouble.name, func(t *testing.T) { j.endure(t, protocol, trouble, healthy[trouble.ranks]) })
				}
			})
		}
	}
}

// census is the number of a job's spans: of all, and of those that end after the word.
type census struct{ all, late int }

// census counts them where all is well.
func (j job) census(t *testing.T, ranks int, protocol string) (n census) {
	t.Helper()
	c := collector.Start(t, collector.Options{})
	var word time.Time
	end := j.run(t, ranks, c.Environment(protocol), func() {
		c.Await(t, func(spans []*tracepb.Span) bool { return len(named(spans, "lenslaunch.worker")) == ranks-1 })
		word = time.Now()
	})
	if end.warnings != 0 {
		t.Fatalf("nothing was in the way:\n%s", end.Tail())
	}
	for _, span := range collector.Spans(c.Traces(t)) {
		n.all++
		if span.EndTimeUnixNano >= uint64(word.UnixNano()) {
			n.late++
		}
	}
	if n.late < 3 || n.all-n.late < ranks-1 {
		t.Fatalf("%d spans, %d of them late: these are less than run, attempt and the last worker", n.all, n.late)
	}
	return n
}

func (j job) endure(t *testing.T, protocol string, trouble trouble, healthy census) {
	off := j.run(t, trouble.ranks, nil, func() {})
	peer := trouble.begin(t, protocol)
	on := j.run(t, trouble.ranks, []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + peer.address, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol,
	}, peer.between)

	// Both have the noise of a machine that does other things as well.
	if noise := max(time.Second, off.took); on.took > off.took+bound+noise {
		t.Errorf("took %v, and %v without telemetry", on.took, off.took)
	}
	arrived := 0
	if peer.collector != nil {
		arrived = len(collector.Spans(peer.collector.Traces(t)))
	}
	t.Logf("%v, without telemetry %v; of %d spans %d arrived, %d were said to be lost", on.took, off.took, healthy.all, arrived, on.lost)
	least, most := healthy.all, healthy.all
	switch trouble.lost {
	case lateLost:
		least = healthy.late
	case allKnown:
		least = healthy.all - arrived
	}
	if on.lost < least || on.lost > most {
		t.Errorf("%d spans were said to be lost; at least %d were, of %d:\n%s", on.lost, least, most, on.Tail())
	}
	if on.warnings > 1 || on.warnings == 0 && least > 0 {
		t.Errorf("%d warnings:\n%s", on.warnings, on.Tail())
	}
}

func named(spans []*tracepb.Span, name string) (list []*tracepb.Span) {
	for _, span := range spans {
		if span.Name == name {
			list = append(list, span)
		}
	}
	return list
}
