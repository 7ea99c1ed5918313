//go:build netns && linux

package netns

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// pair is two hosts with a wire between them for each network.
type pair struct {
	t      *testing.T
	dir    string
	marker string
	names  [2]string // of the namespaces
	hosts  [2]string // hosts files
}

// connected makes two hosts, node 0 and node 1. A network is a pair of addresses with
// their prefix: "10.77.0.%d/24"; its interface is eth0, eth1, ...
func connected(t *testing.T, networks ...string) *pair {
	t.Helper()
	p := &pair{t: t, dir: t.TempDir(), marker: harness.NewMarker()}
	for i := range p.names {
		p.names[i] = fmt.Sprintf("lenslaunch-%s-%d", p.marker[:8], i)
		p.ip("netns", "add", p.names[i])
		t.Cleanup(func() { p.ip("netns", "delete", p.names[i]) })
		p.ip("-n", p.names[i], "link", "set", "lo", "up")
		p.hosts[i] = filepath.Join(p.dir, "hosts."+strconv.Itoa(i))
	}
	t.Cleanup(func() { harness.RequireNothingLeft(t, p.marker) })
	for n, network := range networks {
		dev := "eth" + strconv.Itoa(n)
		p.ip("link", "add", dev, "netns", p.names[0], "type", "veth", "peer", "name", dev, "netns", p.names[1])
		for i, name := range p.names {
			// Without the wait for other owners of the address, of whom there are none.
			words := []string{"-n", name, "address", "add", fmt.Sprintf(network, i+1), "dev", dev}
			if strings.Contains(network, "::") {
				words = append(words, "nodad")
			}
			p.ip(words...)
			p.ip("-n", name, "link", "set", dev, "up")
		}
	}
	return p
}

func (p *pair) ip(words ...string) {
	p.t.Helper()
	if text, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		p.t.Fatalf("ip %q: %v\n%s", words, err, text)
	}
}

// resolves writes the hosts file of a host.
func (p *pair) resolves(node int, lines ...string) {
	p.t.Helper()
	text := "127.0.0.1 localhost\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(p.hosts[node], []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// launch is a launcher on one of the hosts.
type launch struct {
	cmd *exec.Cmd
	out output
}

// output is what it has printed so far; more tells of every write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits until something was printed.
func (l *launch) await(t *testing.T, text string) {
	t.Helper()
	for late := time.After(time.Minute); !strings.Contains(l.out.String(), text); {
		select {
		case <-l.out.more:
		case <-late:
			t.Fatalf("it does not print %q:\n%s", text, &l.out)
		}
	}
}

// inStep are the variables of a task of a Slurm step of both hosts.
func inStep(node int) []string {
	return []string{
		"SLURM_JOB_ID=7", "SLURM_CLUSTER_NAME=lab", "SLURM_JOB_NUM_NODES=2", "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=n[1-2]", "SLURM_STEP_NUM_NODES=2",
		"SLURM_STEP_TASKS_PER_NODE=1(x2)", "SLURM_STEP_RESV_PORTS=12002-12003", "SLURM_NODEID=" + strconv.Itoa(node),
	}
}

// inPod are those of a pod of a TrainJob.
func inPod(node int) []string {
	return []string{
		"KUBERNETES_SERVICE_HOST=10.96.0.1", "LENSLAUNCH_JOB_UID=5d1b", "PET_NNODES=2", "PET_NODE_RANK=" + strconv.Itoa(node),
		"PET_NPROC_PER_NODE=1", "PET_MASTER_ADDR=train-node-0-0.train", "PET_MASTER_PORT=29400",
	}
}

// start runs a command on a host. `ip netns exec` has mounts of its own, so the hosts
// file changes for this process alone; without a resolver names are asked of the file.
func (p *pair) start(node int, variables []string, words ...string) *launch {
	p.t.Helper()
	empty := filepath.Join(p.dir, "resolv.conf")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		p.t.Fatal(err)
	}
	script := `mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2 && exec "$@"`
	args := append([]string{"netns", "exec", p.names[node], "sh", "-c", script, "sh", p.hosts[node], empty}, words...)
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	p.t.Cleanup(cancel)
	l := &launch{cmd: exec.CommandContext(ctx, "ip", args...), out: output{more: make(chan struct{}, 1)}}
	l.cmd.Env = append(append(harness.Environment(p.dir, p.marker), rankVariable+"=yes"), variables...)
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.out
	l.cmd.WaitDelay = 10 * time.Second
	if err := l.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return l
}

func (l *launch) code() int {
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode()
}

// lenslaunch is the launcher's command line with one rank.
func lenslaunch(t *testing.T, flags ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append(append([]string{harness.Binary(), "-v", "--nproc", "1"}, flags...), "--", self)
}

// meet runs both nodes and checks that their ranks have found each other at this address.
func (p *pair) meet(addr string, flags ...string) {
	p.t.Helper()
	both := [2]*launch{p.start(0, inStep(0), lenslaunch(p.t, flags...)...), p.start(1, inStep(1), lenslaunch(p.t, flags...)...)}
	for node, l := range both {
		if code := l.code(); code != 0 || !strings.Contains(l.out.String(), "master address "+addr) {
			p.t.Errorf("node %d: exit code %d, want %s:\n%s", node, code, addr, &l.out)
		}
	}
}

// refused runs one node, which must say no before anything starts.
func (p *pair) refused(node, code int, words ...string) {
	p.t.Helper()
	l := p.start(node, inStep(node), lenslaunch(p.t)...)
	if got := l.code(); got != code {
		p.t.Errorf("node %d: exit code %d, want %d:\n%s", node, got, code, &l.out)
	}
	for _, word := range words {
		if !strings.Contains(l.out.String(), word) {
			p.t.Errorf("node %d does not say %q:\n%s", node, word, &l.out)
		}
	}
}
