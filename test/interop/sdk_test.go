//go:build interop

package interop

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"lenslaunch/carrier"
)

// sdkRecord is what workers/sdk.py writes.
type sdkRecord struct {
	Attempt, Rank int
	Carrier       string
	Attributes    map[string]string
	Environment   map[string]string
}

// Each of 8 ranks' SDK must take exactly its own carrier for its resource: all
// of it, decoded as the SDK decodes, and nothing of another rank's.
func TestSDKSeesItsOwnCarrier(t *testing.T) {
	const ranks, runID = 8, "sdk, 8 ranks"
	outcome, results := job{
		ranks: ranks, runID: runID, script: "workers/sdk.py",
		flags: []string{"--attr", "note=a=b,c%d é", "--role", "policy"},
		env:   []string{"OTEL_RESOURCE_ATTRIBUTES=team=red%20team,custom.id=007,odd=%2Fpre%2Dencoded"},
	}.run(t)
	outcome.RequireCode(t, 0)

	records := records[sdkRecord](t, results, ranks)
	for rank, record := range records {
		want := map[string]string{
			"nv.dl.rank": strconv.Itoa(rank), "nv.dl.local_rank": strconv.Itoa(rank),
			"nv.dl.world_size": strconv.Itoa(ranks), "nv.dl.role": "policy",
			"nemo.run.id":         runID,
			"service.instance.id": runID + "-rank" + strconv.Itoa(rank),
			"nv.dl.job.uuid":      derive("nemo.lens.job/local/" + runID),
			"nv.dl.run.uuid":      derive("nemo.lens.run/local/" + runID + "/te0"),
			"lenslaunch.attempt":  "0",
			"team":                "red team", "custom.id": "007", "odd": "/pre-encoded",
			"note": "a=b,c%d é",
		}
		for key, value := range want {
			if got := record.Attributes[key]; got != value {
				t.Errorf("rank %d: %s is %q to the SDK, want %q", rank, key, got, value)
			}
		}
		if diff := cmp.Diff(parsed(record.Carrier), carried(record.Attributes)); diff != "" {
			t.Errorf("rank %d: the SDK and this project read the carrier differently:\n%s", rank, diff)
		}
		if _, there := record.Attributes["process.pid"]; there {
			t.Errorf("rank %d: carries the launcher's process.pid", rank)
		}
	}
}

// carried drops what the SDK adds to every resource by itself.
func carried(attributes map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range attributes {
		if !strings.HasPrefix(key, "telemetry.sdk.") && !strings.HasPrefix(value, "unknown_service") {
			kept[key] = value
		}
	}
	return kept
}

func parsed(text string) map[string]string {
	values := map[string]string{}
	for _, kv := range carrier.Parse(text) {
		values[string(kv.Key)] = kv.Value.AsString()
	}
	return values
}

// derive is the derivation that the identity specification gives, written
// again here so that the launcher is not compared with itself.
func derive(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}
