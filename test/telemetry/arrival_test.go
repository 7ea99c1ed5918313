//go:build telemetry && linux

package telemetry

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"lenslaunch/test/collector"
)

// arrivals are jobs with what the specification says of their spans.
var arrivals = []struct {
	job
	spans []string // as told by tell
}{
	{job{name: "success", last: "exit 0"}, []string{
		"run process.command=sh lenslaunch.nproc=2 lenslaunch.nnodes=1 lenslaunch.outcome=success process.exit.code=0 lenslaunch.restarts=0",
		"run/attempt 0 lenslaunch.outcome=success",
		"run/attempt 0/worker 0 nv.dl.local_rank=0 process.exit.code=0 lenslaunch.reason=exit",
		"run/attempt 0/worker 1 nv.dl.local_rank=1 process.exit.code=0 lenslaunch.reason=exit",
	}},
	// The others have the time to end by themselves.
	{job{name: "restart", flags: []string{"--max-restarts", "1", "--restart-delay", "0s", "--failure-grace", "1m"}, last: "exit 3", code: 3}, []string{
		"run process.command=sh lenslaunch.nproc=2 lenslaunch.nnodes=1 lenslaunch.outcome=failed process.exit.code=3 lenslaunch.restarts=1",
		"run/attempt 0 lenslaunch.outcome=failed lenslaunch.cause.rank=1 ERROR rank 1 failed: exit code 3",
		"run/attempt 0/worker 0 nv.dl.local_rank=0 process.exit.code=0 lenslaunch.reason=exit",
		"run/attempt 0/worker 1 nv.dl.local_rank=1 process.exit.code=3 lenslaunch.reason=exit ERROR exit code 3",
		"run/attempt 1 lenslaunch.outcome=failed lenslaunch.cause.rank=1 ERROR rank 1 failed: exit code 3",
		"run/attempt 1/worker 0 nv.dl.local_rank=0 process.exit.code=0 lenslaunch.reason=exit",
		"run/attempt 1/worker 1 nv.dl.local_rank=1 process.exit.code=3 lenslaunch.reason=exit ERROR exit code 3",
	}},
	{job{name: "one killed, the other stopped", others: "exec sleep 600", last: "kill -KILL $$", code: 137}, []string{
		"run process.command=sh lenslaunch.nproc=2 lenslaunch.nnodes=1 lenslaunch.outcome=failed process.exit.code=137 lenslaunch.restarts=0",
		"run/attempt 0 lenslaunch.outcome=failed lenslaunch.cause.rank=1 ERROR rank 1 failed: SIGKILL",
		"run/attempt 0/worker 0 nv.dl.local_rank=0 process.exit.signal=SIGTERM lenslaunch.reason=stopped TRUNCATED rank 0 stopped: another rank failed",
		"run/attempt 0/worker 1 nv.dl.local_rank=1 process.exit.signal=SIGKILL lenslaunch.reason=signal ERROR SIGKILL",
	}},
	{job{name: "told to stop", last: `kill -TERM "$PPID"; exec sleep 600`, code: 143}, []string{
		"run process.command=sh lenslaunch.nproc=2 lenslaunch.nnodes=1 lenslaunch.outcome=stopped process.exit.code=143 lenslaunch.restarts=0 TRUNCATED the launcher ended with exit code 143",
		"run/attempt 0 lenslaunch.outcome=stopped TRUNCATED the launcher ended with exit code 143",
		"run/attempt 0/worker 0 nv.dl.local_rank=0 process.exit.code=0 lenslaunch.reason=exit",
		"run/attempt 0/worker 1 nv.dl.local_rank=1 process.exit.signal=SIGTERM lenslaunch.reason=stopped TRUNCATED rank 1 stopped: the launcher was told to end",
	}},
}

// The launcher's spans arrive whole, over each protocol: their tree, what they say, and
// who is truncated or to blame.
func TestSpansArrive(t *testing.T) {
	for _, protocol := range protocols {
		for _, test := range arrivals {
			t.Run(strings.TrimSuffix(protocol, "/protobuf")+" "+test.name, func(t *testing.T) {
				c := collector.Start(t, collector.Options{})
				end := test.run(t, few, c.Environment(protocol), func() {
					if test.others == "" {
						c.Await(t, func(spans []*tracepb.Span) bool { return len(named(spans, "lenslaunch.worker")) == few-1 })
					}
				})
				if end.warnings != 0 {
					t.Error(end.Tail())
				}
				spans := collector.Spans(c.Traces(t))
				family := kin(t, spans)
				var told []string
				for _, span := range slices.Concat(named(spans, "lenslaunch.run"), named(spans, "lenslaunch.attempt"), named(spans, "lenslaunch.worker")) {
					told = append(told, family.tell(span))
				}
				slices.Sort(told)
				if diff := cmp.Diff(test.spans, told); diff != "" {
					t.Errorf("(-want +arrived):\n%s", diff)
				}
			})
		}
	}
}

// The spans describe the launcher: what names the workload, or was an outer launcher's
// word for this process as one of its workers, is not in their resource.
func TestResourceArrives(t *testing.T) {
	c := collector.Start(t, collector.Options{})
	jobs[0].run(t, few, append(c.Environment(collector.GRPC),
		"OTEL_SERVICE_NAME=workload", "OTEL_RESOURCE_ATTRIBUTES=service.name=workload,nv.dl.rank=3,nv.dl.local_rank=3", "LENSLAUNCH_RUN_ID=night-7"), func() {})
	list := c.Traces(t)
	if len(list) == 0 {
		t.Fatal("nothing arrived")
	}
	for _, resource := range list {
		got := valuesOf(resource.GetResource().GetAttributes())
		for key, want := range map[string]string{
			"service.name": "lenslaunch", "service.instance.id": "night-7-launcher0", "nv.dl.role": "launcher",
			"nemo.run.id": "night-7", "nv.dl.rank": "", "nv.dl.local_rank": "", "nv.dl.run.uuid": "",
		} {
			if got[key] != want {
				t.Errorf("%s is %q, want %q", key, got[key], want)
			}
		}
		for _, key := range []string{"service.version", "nv.dl.job.uuid", "host.name"} {
			if got[key] == "" {
				t.Errorf("no %s in %v", key, got)
			}
		}
	}
}
