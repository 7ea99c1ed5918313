package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

var launcher string // built once by TestMain

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lenslaunch-kubernetes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	launcher = filepath.Join(dir, "lenslaunch")
	code := 1
	if err := buildAsInDockerfile(launcher); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildAsInDockerfile runs the build line of the Dockerfile.
func buildAsInDockerfile(to string) error {
	text, err := os.ReadFile(filepath.Join(examples, "Dockerfile"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "RUN ")
		if !ok || !strings.Contains(command, " -o /lenslaunch ") {
			continue
		}
		cmd := exec.Command("sh", "-c", strings.Replace(command, " -o /lenslaunch ", " -o '"+to+"' ", 1))
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build as the Dockerfile does: %w\n%s", err, out)
		}
		return nil
	}
	return fmt.Errorf("the Dockerfile builds no launcher")
}

// meta is what the control plane writes on a pod.
type meta struct {
	name                string
	annotations, labels map[string]string
}

// environment composes what the kubelet gives the container.
func environment(t *testing.T, c core.Container, m meta, more ...string) []string {
	t.Helper()
	env := append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOSTNAME=" + m.name,
		"KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443",
	}, more...)
	for _, v := range c.Env {
		value := v.Value
		if v.ValueFrom != nil {
			value = field(t, m, v.ValueFrom.FieldRef.FieldPath)
		}
		env = append(env, v.Name+"="+value)
	}
	return env
}

// field is the downward API.
func field(t *testing.T, m meta, path string) string {
	t.Helper()
	quoted := func(prefix string, table map[string]string) (string, bool) {
		key, ok := strings.CutPrefix(path, prefix+"['")
		if !ok {
			return "", false
		}
		key = strings.TrimSuffix(key, "']")
		value, known := table[key]
		if !known {
			t.Errorf("nobody writes %s", path)
		}
		return value, true
	}
	if value, ok := quoted("metadata.annotations", m.annotations); ok {
		return value
	}
	if value, ok := quoted("metadata.labels", m.labels); ok {
		return value
	}
	switch path {
	case "metadata.namespace":
		return "team"
	case "metadata.name":
		return m.name
	case "metadata.uid":
		return "uid-of-" + m.name
	case "spec.nodeName":
		return "worker-7"
	}
	t.Errorf("nobody knows %s", path)
	return ""
}

// shown is an element of `lenslaunch env --format json`.
type shown struct {
	Rank int
	Env  map[string]string
	Why  []string
}

// ask runs `lenslaunch env` with a container's arguments in its environment.
func ask(t *testing.T, env []string, args []string) []shown {
	t.Helper()
	dir := t.TempDir()
	flags := []string{"env", "--format", "json", "--nproc", "2"}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		flags = append(flags, strings.ReplaceAll(arg, "/run/lenslaunch", dir))
	}
	cmd := exec.Command(launcher, flags...)
	cmd.Env = append(env, "TMPDIR="+dir)
	text, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = string(exit.Stderr)
		}
		t.Fatalf("lenslaunch %q: %v\n%s", flags, err, stderr)
	}
	var list []shown
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// oneWorld checks that the answers of all pods, in the order of nodes, are one world.
func oneWorld(t *testing.T, nodes [][]shown, addr, port, attempt string) (uuid string) {
	t.Helper()
	for node, list := range nodes {
		for local, r := range list {
			want := map[string]string{
				"RANK": strconv.Itoa(2*node + local), "WORLD_SIZE": strconv.Itoa(2 * len(nodes)), "GROUP_RANK": strconv.Itoa(node),
				"MASTER_ADDR": addr, "MASTER_PORT": port, "LENSLAUNCH_ATTEMPT": attempt,
			}
			for key, value := range want {
				if r.Env[key] != value {
					t.Errorf("node %d, local rank %d: %s is %q, want %q\n%s", node, local, key, r.Env[key], value, strings.Join(r.Why, "\n"))
				}
			}
			got := attribute(r, "nv.dl.run.uuid")
			if uuid == "" {
				uuid = got
			}
			if got != uuid || got == "" {
				t.Errorf("node %d has attempt %q, others %q", node, got, uuid)
			}
			for key, value := range map[string]string{"k8s.namespace.name": "team", "k8s.node.name": "worker-7"} {
				if attribute(r, key) != value {
					t.Errorf("node %d: %s is %q", node, key, attribute(r, key))
				}
			}
		}
	}
	return uuid
}

func attribute(r shown, key string) string {
	for entry := range strings.SplitSeq(r.Env["OTEL_RESOURCE_ATTRIBUTES"], ",") {
		if k, v, _ := strings.Cut(entry, "="); k == key {
			return v
		}
	}
	return ""
}

func TestIndexedJob(t *testing.T) {
	job := read(t, "indexed-job.yaml")[1].(*batch.Job)
	c := job.Spec.Template.Spec.Containers[0]
	var nodes [][]shown
	for i := range int(*job.Spec.Completions) {
		m := meta{fmt.Sprintf("train-%d-x7k2p", i), nil, map[string]string{
			"batch.kubernetes.io/job-name": "train", "batch.kubernetes.io/controller-uid": "7c1d",
		}}
		nodes = append(nodes, ask(t, environment(t, c, m, "JOB_COMPLETION_INDEX="+strconv.Itoa(i)), c.Args))
	}
	oneWorld(t, nodes, "train-0.train", "29500", "0")
	service := read(t, "indexed-job.yaml")[0].(*core.Service)
	if service.Name != job.Spec.Template.Spec.Subdomain || service.Spec.Selector["job-name"] != job.Name {
		t.Error("the service does not give the pods their names")
	}
}

// jobSetPod is what JobSet's controller writes on pod i of Job j.
func jobSetPod(set, replicated string, j, i, restarts int) meta {
	notes := map[string]string{
		jobset.JobSetNameKey: set, jobset.JobSetUIDKey: "5d1b9e9e-4f0e-4b52-8a3c-8a0f5f0d9b11",
		jobset.ReplicatedJobNameKey: replicated, jobset.JobIndexKey: strconv.Itoa(j), jobset.JobGlobalIndexKey: strconv.Itoa(j),
		jobset.CoordinatorKey:                fmt.Sprintf("%s-%s-0-0.%s", set, replicated, set),
		"jobset.sigs.k8s.io/restart-attempt": strconv.Itoa(restarts),
		batch.JobCompletionIndexAnnotation:   strconv.Itoa(i),
	}
	job := fmt.Sprintf("%s-%s-%d", set, replicated, j)
	return meta{fmt.Sprintf("%s-%d-h5w9c", job, i), notes, map[string]string{"batch.kubernetes.io/job-name": job}}
}

func TestJobSet(t *testing.T) {
	set := read(t, "jobset.yaml")[0].(*jobset.JobSet)
	replicated := set.Spec.ReplicatedJobs[0]
	c := replicated.Template.Spec.Template.Spec.Containers[0]
	seen := map[string]bool{}
	for restarts := range 3 {
		var nodes [][]shown
		for j := range int(replicated.Replicas) {
			for i := range int(*replicated.Template.Spec.Completions) {
				m := jobSetPod(set.Name, replicated.Name, j, i, restarts)
				nodes = append(nodes, ask(t, environment(t, c, m, "JOB_COMPLETION_INDEX="+strconv.Itoa(i)), c.Args))
			}
		}
		seen[oneWorld(t, nodes, "train-slice-0-0.train", "29500", strconv.Itoa(restarts))] = true
		if got := attribute(nodes[5][0], "slurm.restart_count"); got != strconv.Itoa(restarts) {
			t.Errorf("restart count %q, want %d", got, restarts)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three attempts have %d UUIDs", len(seen))
	}
}

func TestTrainJob(t *testing.T) {
	objects := read(t, "trainjob.yaml")
	runtime, job := objects[0].(*trainer.ClusterTrainingRuntime), objects[1].(*trainer.TrainJob)
	if runtime.Name != job.Spec.RuntimeRef.Name || job.Spec.Trainer.Command[0] != "lenslaunch" {
		t.Errorf("%+v", job.Spec)
	}
	replicated := runtime.Spec.Template.Spec.ReplicatedJobs[0]
	c := replicated.Template.Spec.Template.Spec.Containers[0]
	var nodes [][]shown
	for i := range int(*job.Spec.Trainer.NumNodes) {
		index := strconv.Itoa(i)
		m := jobSetPod(job.Name, replicated.Name, 0, i, 1)
		// What the Trainer's torch plugin adds.
		nodes = append(nodes, ask(t, environment(t, c, m, "JOB_COMPLETION_INDEX="+index,
			"PET_NNODES="+strconv.Itoa(int(*job.Spec.Trainer.NumNodes)), "PET_NPROC_PER_NODE="+strconv.Itoa(int(*job.Spec.Trainer.NumProcPerNode)),
			"PET_NODE_RANK="+index, "PET_MASTER_ADDR=train-node-0-0.train", "PET_MASTER_PORT=29400"), job.Spec.Trainer.Args))
	}
	oneWorld(t, nodes, "train-node-0-0.train", "29400", "1")
}
