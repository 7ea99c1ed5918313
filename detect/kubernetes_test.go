package detect

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestKubernetesVectors(t *testing.T) {
	for i, v := range readVectors(t).Kubernetes {
		host := Host{}
		if v.Secrets {
			host.FS = pod()
		}
		if diff := cmp.Diff(show(v.Out), show(Kubernetes(v.Env, host))); diff != "" {
			t.Errorf("vector %d, %v (-want +got):\n%s", i, v.Env, diff)
		}
	}
}

func TestKubernetesInAPodWithoutItsService(t *testing.T) {
	got := Kubernetes(map[string]string{"HOSTNAME": "pod-1", "K8S_NAMESPACE": ""}, Host{FS: pod()})
	if diff := cmp.Diff(stringAttrs("k8s.pod.name", "pod-1"), show(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A file of that name is no service account.
	host := Host{FS: fstest.MapFS{podSecrets: {Data: []byte("x")}}}
	if got := Kubernetes(map[string]string{"K8S_POD_NAME": "p", "HOSTNAME": "h"}, host); len(got) != 0 {
		t.Errorf("outside a pod: %q", show(got))
	}
}
