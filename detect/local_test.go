package detect

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocal(t *testing.T) {
	two := GPUSet{GPUs: []GPU{{Index: 0}, {Index: 1}}}
	failing := func() (string, error) { return "half", errors.New("no name") }
	for _, test := range []struct {
		what string
		env  map[string]string
		host Host
		want []string
	}{
		{"nothing known", nil, Host{}, []string{}},
		{"a host without GPUs", nil, Host{Hostname: node("n1"), Pid: 42}.WithGPUs(GPUSet{}), []string{"host.name=STRING:n1", "process.pid=INT64:42"}},
		{"with GPUs", nil, Host{Hostname: node("n1"), Pid: 42}.WithGPUs(two), []string{"host.name=STRING:n1", "process.pid=INT64:42", "host.gpu.count=INT64:2"}},
		{"GPUs that nobody asked for", nil, Host{Pid: 42}, []string{"process.pid=INT64:42"}},
		{"visible devices", map[string]string{"CUDA_VISIBLE_DEVICES": "0,2,GPU-a"}, Host{}.WithGPUs(two), []string{"host.gpu.count=INT64:3"}},
		{"visible devices alone", map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, Host{}, []string{"host.gpu.count=INT64:1"}},
		{"no visible devices", map[string]string{"CUDA_VISIBLE_DEVICES": " "}, Host{}.WithGPUs(two), []string{"host.gpu.count=INT64:0"}},
		{"no name", nil, Host{Hostname: failing}, []string{}},
		{"an empty name", nil, Host{Hostname: node("")}, []string{}},
	} {
		if diff := cmp.Diff(test.want, show(Local(test.env, test.host))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

func TestSystemHost(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	got := Local(nil, SystemHost())
	if must(t, got, "host.name").AsString() != name || must(t, got, ProcessPid).AsInt64() != int64(os.Getpid()) {
		t.Errorf("%q, want host %s and pid %d", show(got), name, os.Getpid())
	}
}
