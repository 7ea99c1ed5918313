package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

const examples = "../../examples/kubernetes"

// newObject is an empty object of a kind.
func newObject(apiVersion, kind string) any {
	switch apiVersion + " " + kind {
	case "v1 Service":
		return &core.Service{}
	case "batch/v1 Job":
		return &batch.Job{}
	case "jobset.x-k8s.io/v1alpha2 JobSet":
		return &jobset.JobSet{}
	case "trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime":
		return &trainer.ClusterTrainingRuntime{}
	case "trainer.kubeflow.org/v1alpha1 TrainJob":
		return &trainer.TrainJob{}
	}
	return nil
}

var documents = regexp.MustCompile(`(?m)^---$`)

// read returns the objects of a manifest; a field that its type does not have is an error.
func read(t *testing.T, name string) []any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, document := range documents.Split(string(text), -1) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		object := newObject(head.APIVersion, head.Kind)
		if object == nil {
			t.Fatalf("%s: %s %s is no kind that is known", name, head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatalf("%s: %s: %v", name, head.Kind, err)
		}
		list = append(list, object)
	}
	return list
}

// pods is what an object starts: a Job's specification, how many there are of it.
type pods struct {
	job  batch.JobSpec
	jobs int
}

func podsOf(object any) (list []pods) {
	switch o := object.(type) {
	case *batch.Job:
		list = append(list, pods{o.Spec, 1})
	case *jobset.JobSet:
		for _, r := range o.Spec.ReplicatedJobs {
			list = append(list, pods{r.Template.Spec, int(r.Replicas)})
		}
	case *trainer.ClusterTrainingRuntime:
		for _, r := range o.Spec.Template.Spec.ReplicatedJobs {
			list = append(list, pods{r.Template.Spec, 1})
		}
	}
	return list
}

func TestManifestsAreStrictlyRight(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v: %q", err, files)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			started := 0
			for _, object := range read(t, name) {
				for _, p := range podsOf(object) {
					started++
					checkPod(t, p.job.Template.Spec)
					checkPolicy(t, p.job)
				}
			}
			if started != 1 {
				t.Errorf("%d kinds of pods", started)
			}
		})
	}
}

// A misspelt field must not pass.
func TestStrictModeIsStrict(t *testing.T) {
	var job batch.Job
	if err := yaml.UnmarshalStrict([]byte("apiVersion: batch/v1\nkind: Job\nspec: {backOffLimits: 3}\n"), &job); err == nil {
		t.Error("a field that does not exist was taken")
	}
}

// checkPod holds every pod to what the launcher needs and to what a careful cluster asks.
func checkPod(t *testing.T, pod core.PodSpec) {
	t.Helper()
	c := pod.Containers[0]
	env := map[string]core.EnvVar{}
	for _, v := range c.Env {
		env[v.Name] = v
	}
	for _, name := range []string{"K8S_NAMESPACE", "K8S_POD_NAME", "K8S_POD_UID", "K8S_NODE_NAME", "K8S_CONTAINER_NAME", "K8S_JOB_NAME", "LENSLAUNCH_JOB_UID"} {
		if v, ok := env[name]; !ok || v.Value == "" && v.ValueFrom == nil {
			t.Errorf("%s is not set", name)
		}
	}
	if env["K8S_CONTAINER_NAME"].Value != c.Name {
		t.Errorf("container %s calls itself %s", c.Name, env["K8S_CONTAINER_NAME"].Value)
	}
	stop := env["LENSLAUNCH_STOP_TIMEOUT"].Value
	seconds, err := strconv.Atoi(strings.TrimSuffix(stop, "s"))
	if err != nil || pod.TerminationGracePeriodSeconds == nil || int64(seconds) >= *pod.TerminationGracePeriodSeconds {
		t.Errorf("the stop timeout %q is not below the grace", stop)
	}
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
		t.Error("the pod may run as root")
	}
	if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		t.Error("the container may change its image or gain rights")
	}
	for _, path := range []string{"/run/lenslaunch", "/tmp"} {
		i := slices.IndexFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == path })
		if i < 0 {
			t.Errorf("nothing is mounted at %s", path)
			continue
		}
		j := slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == c.VolumeMounts[i].Name })
		if j < 0 || pod.Volumes[j].EmptyDir == nil {
			t.Errorf("%s is no emptyDir", path)
		}
	}
	if len(c.Command) > 0 {
		t.Error("a command in place of the image's entry point: the launcher would not be process 1")
	}
}

// checkPolicy: the disruption comes first, and the API wants codes in order, of a
// container that there is, and no restart of the pod.
func checkPolicy(t *testing.T, job batch.JobSpec) {
	t.Helper()
	if job.PodFailurePolicy == nil {
		return
	}
	if job.Template.Spec.RestartPolicy != core.RestartPolicyNever {
		t.Error("a pod failure policy needs restartPolicy Never")
	}
	for i, rule := range job.PodFailurePolicy.Rules {
		if (len(rule.OnPodConditions) > 0) != (i == 0) {
			t.Errorf("rule %d: the disruption is not first", i)
		}
		if rule.OnExitCodes == nil {
			continue
		}
		if *rule.OnExitCodes.ContainerName != job.Template.Spec.Containers[0].Name || !slices.IsSorted(rule.OnExitCodes.Values) {
			t.Errorf("rule %d: %+v", i, rule.OnExitCodes)
		}
	}
}

// The JobSet's rules mean the Job's by their place: both are read here together. A policy
// that ends a Job ends nothing where the JobSet then starts all again.
func TestJobSetRulesMatchTheJobs(t *testing.T) {
	set := read(t, "jobset.yaml")[0].(*jobset.JobSet).Spec
	for name, spec := range map[string]jobset.JobSetSpec{
		"jobset.yaml": set, "trainjob.yaml": read(t, "trainjob.yaml")[0].(*trainer.ClusterTrainingRuntime).Spec.Template.Spec,
	} {
		policy := spec.ReplicatedJobs[0].Template.Spec.PodFailurePolicy.Rules
		rules := spec.FailurePolicy.Rules
		if len(policy) != 3 || len(rules) != 3 {
			t.Fatalf("%s: %d rules of the Job, %d of the JobSet", name, len(policy), len(rules))
		}
		for i, action := range []jobset.FailurePolicyAction{jobset.RestartJobSetAndIgnoreMaxRestarts, jobset.RestartJobSetAndIgnoreMaxRestarts, jobset.FailJobSet} {
			pattern := []string{fmt.Sprintf("matching FailJob rule at index %d", i)}
			if action == jobset.FailJobSet {
				pattern = nil // the rest
			}
			if r := rules[i]; r.Action != action || !slices.Equal(r.OnJobFailureReasons, []string{batch.JobReasonPodFailurePolicy}) || !slices.Equal(r.OnJobFailureMessagePatterns, pattern) {
				t.Errorf("%s: rule %d of the JobSet: %+v", name, i, r)
			}
		}
		if len(policy[0].OnPodConditions) == 0 || !slices.Equal(policy[1].OnExitCodes.Values, []int32{75}) || !slices.Equal(policy[2].OnExitCodes.Values, []int32{2, 78, 93, 126, 127}) {
			t.Errorf("%s: rules of the Job: %+v", name, policy)
		}
	}
}
