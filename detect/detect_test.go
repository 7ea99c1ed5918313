package detect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
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

// vectors is the part of the shared vectors that belongs to this package.
type vectors struct {
	Slurm []struct {
		Env map[string]string `json:"env"`
		Out vectorList        `json:"out"`
	} `json:"detect_slurm"`
	Kubernetes []struct {
		Env     map[string]string `json:"env"`
		Secrets bool              `json:"serviceaccount_dir"`
		Out     vectorList        `json:"out"`
	} `json:"detect_kubernetes"`
	UUID []struct {
		Env   map[string]string `json:"env"`
		RunID *string           `json:"run_id"`
		Job   string            `json:"job"`
		Run   *string           `json:"run"`
	} `json:"uuid"`
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/carrier.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Slurm) == 0 || len(v.Kubernetes) == 0 || len(v.UUID) == 0 {
		t.Fatal("testdata/carrier.json holds no vectors of detection")
	}
	return v
}

// A vectorList reads [["key", {"s": "text"}], ["key", {"i": 1}]].
type vectorList []attribute.KeyValue

func (l *vectorList) UnmarshalJSON(text []byte) error {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	for _, pair := range pairs {
		var key string
		var value struct {
			S *string `json:"s"`
			I *int64  `json:"i"`
		}
		if err := errors.Join(json.Unmarshal(pair[0], &key), json.Unmarshal(pair[1], &value)); err != nil {
			return err
		}
		switch {
		case value.S != nil:
			*l = append(*l, attribute.String(key, *value.S))
		case value.I != nil:
			*l = append(*l, attribute.Int64(key, *value.I))
		default:
			return fmt.Errorf("%s: a value of neither type", key)
		}
	}
	return nil
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
