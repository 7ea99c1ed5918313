//go:build stress

package stress

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lenslaunch/carrier"
	"lenslaunch/test/harness"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(harness.Main(m))
}

// Two hundred launches at the same time, all in one temporary directory and
// with one state directory, as users of one host have them.
func TestTwoHundredLaunchesSideBySide(t *testing.T) {
	const launches = 200
	shared, state, marker := t.TempDir(), harness.StateDir(t), harness.NewMarker()
	gate, err := newGate()
	if err != nil {
		t.Fatal(err)
	}

	group, ctx := errgroup.WithContext(t.Context())
	group.Go(func() error { return gate.wait(ctx, launches) })
	for i := range launches {
		group.Go(func() error {
			return launch(ctx, i, shared, state, marker, gate.listener.Addr().String())
		})
	}
	began := time.Now()
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d launches of 2 ranks in %v", launches, time.Since(began).Round(time.Millisecond))

	harness.RequireNothingLeft(t, marker)
	checkReports(t, gate.reports, launches)
}

func launch(ctx context.Context, i int, shared, state, marker, gate string) error {
	number := strconv.Itoa(i)
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	outcome, err := harness.Launch{
		Args: []string{"--nproc", "2", "--run-id", "side-" + number, "--state-dir", state, "--", executable},
		Env: []string{
			workerVariable + "=" + number, gateVariable + "=" + gate,
			carrier.Variable + "=launch.number=" + number,
		},
	}.Do(ctx, shared, marker)
	if err == nil && outcome.Code != 0 {
		err = fmt.Errorf("exit code %d", outcome.Code)
	}
	if err != nil {
		return fmt.Errorf("launch %d: %w\n%s", i, err, outcome.Tail())
	}
	return nil
}

// checkReports proves that no launch met another: all ports differ while all
// were in use, and both ranks' carriers are of their own launch and rank.
func checkReports(t *testing.T, reports []report, want int) {
	ports, attempts := map[string]string{}, map[string]string{}
	for _, both := range reports {
		name := both[0].Launch
		for rank, seen := range both {
			checkSighting(t, seen, name, strconv.Itoa(rank), both[0].Port)
		}
		if other, taken := ports[both[0].Port]; taken {
			t.Errorf("launches %s and %s both had port %s", name, other, both[0].Port)
		}
		ports[both[0].Port] = name
		attempts[attribute(both[0].Carrier, "nv.dl.run.uuid")] = name
	}
	if len(reports) != want || len(attempts) != want {
		t.Errorf("%d reports with %d attempt UUIDs, want %d of each", len(reports), len(attempts), want)
	}
}

func checkSighting(t *testing.T, seen sighting, launch, rank, port string) {
	if seen.Launch != launch || seen.Rank != rank || seen.Port != port {
		t.Errorf("launch %s rank %s port %s: met launch %s rank %s port %s",
			launch, rank, port, seen.Launch, seen.Rank, seen.Port)
	}
	runID := "side-" + launch
	attempt := uuid.NewSHA1(uuid.NameSpaceURL, []byte("nemo.lens.run/local/"+runID+"/te0"))
	for key, value := range map[string]string{
		"launch.number": launch, "nemo.run.id": runID, "nv.dl.rank": rank,
		"service.instance.id": runID + "-rank" + rank, "nv.dl.run.uuid": attempt.String(),
	} {
		if got := attribute(seen.Carrier, key); got != value {
			t.Errorf("launch %s rank %s: %s is %q, want %q", launch, rank, key, got, value)
		}
	}
}

func attribute(text, key string) string {
	for _, kv := range carrier.Parse(text) {
		if string(kv.Key) == key {
			return kv.Value.AsString()
		}
	}
	return ""
}
