package detect

import (
	"io/fs"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// podSecrets is where a pod finds its service account, relative to the root. It
// tells a pod whose environment was cleared.
const podSecrets = "var/run/secrets/kubernetes.io"

// Kubernetes returns the k8s.* attributes that the downward API put into the
// environment, in a pod; elsewhere nothing, whatever the variables hold. Empty
// values are absent. (Resource detection specification, "Kubernetes".)
func Kubernetes(env map[string]string, host Host) []attribute.KeyValue {
	if env["KUBERNETES_SERVICE_HOST"] == "" {
		if info, err := fs.Stat(host.files(), podSecrets); err != nil || !info.IsDir() {
			return nil
		}
	}
	d := derivation{env: env}
	d.first(semconv.K8SNamespaceName, "K8S_NAMESPACE")
	d.first(semconv.K8SPodName, "K8S_POD_NAME", "HOSTNAME") // a pod's host name is its own
	d.first(semconv.K8SPodUID, "K8S_POD_UID")
	d.first(semconv.K8SNodeName, "K8S_NODE_NAME")
	d.first(semconv.K8SContainerName, "K8S_CONTAINER_NAME")
	d.first(semconv.K8SJobName, "K8S_JOB_NAME")
	return d.list
}
