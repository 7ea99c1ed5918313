package detect

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
	"lenslaunch/test/vectors"
)

// show writes a list so that it can be compared: "key=type:value" in order. The
// values of the attribute package compare by their insides only.
func show(list []attribute.KeyValue) []string {
	out := []string{}
	for _, kv := range list {
		out = append(out, fmt.Sprintf("%s=%s:%v", kv.Key, kv.Value.Type(), kv.Value.AsInterface()))
	}
	return out
}

// stringAttrs writes expectations of strings as show does.
func stringAttrs(pairs ...string) []string {
	var list []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, attribute.String(pairs[i], pairs[i+1]))
	}
	return show(list)
}

// sections of the vectors that this package answers for.
type sections struct {
	Slurm []struct {
		Env map[string]string `json:"env"`
		Out vectors.List      `json:"out"`
	} `json:"detect_slurm"`
	Kubernetes []struct {
		Env     map[string]string `json:"env"`
		Secrets bool              `json:"serviceaccount_dir"`
		Out     vectors.List      `json:"out"`
	} `json:"detect_kubernetes"`
	UUID []struct {
		Env   map[string]string `json:"env"`
		RunID *string           `json:"run_id"`
		Job   string            `json:"job"`
		Run   *string           `json:"run"`
	} `json:"uuid"`
}

func readVectors(t testing.TB) (v sections) {
	t.Helper()
	vectors.Read(t, &v)
	return v
}

// pod is a file system with the service account of a pod.
func pod() fstest.MapFS {
	return fstest.MapFS{podSecrets + "/serviceaccount/token": {Data: []byte("t")}}
}

func node(name string) func() (string, error) {
	return func() (string, error) { return name, nil }
}

func with(env map[string]string, changes ...string) map[string]string {
	out := maps.Clone(env)
	if out == nil {
		out = map[string]string{}
	}
	for i := 0; i < len(changes); i += 2 {
		out[changes[i]] = changes[i+1]
	}
	return out
}

// captured reads a real Slurm environment, for example "22.05.8-sbatch-batch".
func captured(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/slurm-env/slurm-env-" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			env[key] = value
		}
	}
	return env
}

func must(t *testing.T, list []attribute.KeyValue, key string) attribute.Value {
	t.Helper()
	v, ok := semconv.Get(list, key)
	if !ok {
		t.Fatalf("no %s in %q", key, show(list))
	}
	return v
}
