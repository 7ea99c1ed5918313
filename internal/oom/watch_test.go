package oom

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a file system in a temporary directory: path to text.
type tree map[string]string

func (files tree) write(t *testing.T, root string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	mount2 = "29 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	hybrid = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	noLimit = "9223372036854771712\n"
	own     = "sys/fs/cgroup/slurm/job_7/step_0/"
	job     = "sys/fs/cgroup/slurm/job_7/"
)

// before2 is a Slurm step under pure version 2: no limit of its own, the job's one
// above it.
func before2() tree {
	return tree{
		"proc/self/mountinfo":               mount2,
		"proc/self/cgroup":                  "0::/slurm/job_7/step_0\n",
		"proc/vmstat":                       "nr_free_pages 1\noom_kill 5\n",
		own + "memory.events":               "low 0\nhigh 0\nmax 0\noom 2\noom_kill 1\noom_group_kill 0\n",
		own + "memory.max":                  "max\n",
		own + "memory.peak":                 "1048576\n",
		job + "memory.events":               "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n",
		job + "memory.max":                  "8589934592\n",
		job + "memory.peak":                 "8589930496\n",
		"sys/fs/cgroup/slurm/memory.max":    "1099511627776\n",
		"sys/fs/cgroup/slurm/memory.peak":   "9000000000\n",
		"sys/fs/cgroup/slurm/memory.events": "oom 4\noom_kill 3\n",
		"sys/fs/cgroup/cgroup.procs":        "", // the root group counts no memory
	}
}

// before1 is a hybrid machine, or a pure version 1: the container's group.
func before1() tree {
	const group = "sys/fs/cgroup/memory/docker/4f/"
	return tree{
		"proc/self/mountinfo":                        hybrid,
		"proc/self/cgroup":                           "4:memory:/docker/4f\n0::/\n",
		"proc/vmstat":                                "oom_kill 5\n",
		group + "memory.oom_control":                 "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		group + "memory.limit_in_bytes":              "67108864\n",
		group + "memory.max_usage_in_bytes":          "67108000\n",
		"sys/fs/cgroup/memory/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": noLimit,
		"sys/fs/cgroup/unified/cgroup.procs":         "",
	}
}

// with is a tree with some files replaced; an empty name in gone removes one.
func (files tree) with(changes tree, gone ...string) tree {
	out := maps.Clone(files)
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(name, _ string) bool { return slices.Contains(gone, name) })
	return out
}

func TestExplain(t *testing.T) {
	const group1 = "sys/fs/cgroup/memory/docker/4f/"
	ownKill := tree{own + "memory.events": "oom 2\noom_kill 2\n"}
	hit1 := tree{group1 + "memory.oom_control": "oom_kill 2\n"}
	sure2 := Kill{Sure: true, Source: "/" + own + "memory.events"}
	sure1 := Kill{Sure: true, Source: "/" + group1 + "memory.oom_control"}
	hint := Kill{Source: "/proc/vmstat"}
	tests := []struct {
		name          string
		before, after tree
		want          Kill // the zero value: no explanation
	}{
		{"nothing happened", before2(), nil, Kill{}},
		{"nothing happened, version 1", before1(), nil, Kill{}},
		{"only other counters grew", before2(), tree{own + "memory.events": "max 7\noom 3\noom_kill 1\noom_group_kill 1\n"}, Kill{}},
		{
			"the job's limit, above a step without one", before2(),
			ownKill.with(tree{job + "memory.events": "oom 5\noom_kill 4\n", "sys/fs/cgroup/slurm/memory.events": "oom 5\noom_kill 4\n"}),
			Kill{Sure: true, Limit: 8 << 30, Peak: 8<<30 - 4096, Source: sure2.Source},
		},
		{
			"the step's own limit", before2().with(tree{own + "memory.max": "1048576\n"}),
			tree{own + "memory.events": "oom 3\noom_kill 2\n", job + "memory.events": "oom 5\noom_kill 4\n"},
			Kill{Sure: true, Limit: 1 << 20, Peak: 1 << 20, Source: sure2.Source},
		},
		{
			"the job's limit, though the step has one too that was not hit",
			before2().with(tree{own + "memory.max": "1048576000\n"}), ownKill.with(tree{job + "memory.events": "oom 5\n"}),
			Kill{Sure: true, Limit: 8 << 30, Peak: 8<<30 - 4096, Source: sure2.Source},
		},
		{
			"no limit in sight was hit: the machine's memory", before2(), ownKill.with(tree{"proc/vmstat": "oom_kill 6\n"}),
			Kill{Sure: true, Peak: 1 << 20, Source: sure2.Source},
		},
		{
			"a kernel that keeps no peak", before2().with(nil, own+"memory.peak", job+"memory.peak"),
			ownKill.with(tree{job + "memory.events": "oom 5\n"}), Kill{Sure: true, Limit: 8 << 30, Source: sure2.Source},
		},
		{
			"a kernel that counts no hits: the nearest limit",
			before2().with(tree{own + "memory.events": "oom_kill 1\n", job + "memory.events": "oom_kill 3\n"}), ownKill,
			Kill{Sure: true, Limit: 8 << 30, Peak: 8<<30 - 4096, Source: sure2.Source},
		},
		{
			"our group has no memory controller: the nearest above",
			before2().with(nil, own+"memory.events", own+"memory.max", own+"memory.peak"), tree{job + "memory.events": "oom 5\noom_kill 4\n"},
			Kill{Sure: true, Limit: 8 << 30, Peak: 8<<30 - 4096, Source: "/" + job + "memory.events"},
		},
		{"another process of the job", before2(), tree{job + "memory.events": "oom 5\noom_kill 4\n"}, Kill{}},
		{"another process of the machine", before2(), tree{"proc/vmstat": "oom_kill 6\n"}, hint},
		{"version 1", before1(), hit1, Kill{Sure: true, Limit: 64 << 20, Peak: 67108000, Source: sure1.Source}},
		{
			"version 1, far from its limit: the machine's memory", before1().with(tree{group1 + "memory.max_usage_in_bytes": "33554432\n"}), hit1,
			Kill{Sure: true, Peak: 32 << 20, Source: sure1.Source},
		},
		{
			"version 1, the container's limit above a group that is far from its own",
			before1().with(tree{
				"proc/self/cgroup":                       "4:memory:/docker/4f/job\n",
				group1 + "job/memory.oom_control":        "oom_kill 0\n",
				group1 + "job/memory.limit_in_bytes":     "1073741824\n",
				group1 + "job/memory.max_usage_in_bytes": "33554432\n",
			}),
			tree{group1 + "job/memory.oom_control": "oom_kill 1\n"},
			Kill{Sure: true, Limit: 64 << 20, Peak: 67108000, Source: "/" + group1 + "job/memory.oom_control"},
		},
		{
			"version 1, no peak", before1().with(nil, group1+"memory.max_usage_in_bytes"), hit1,
			Kill{Sure: true, Limit: 64 << 20, Source: sure1.Source},
		},
		{
			"version 1 without a limit", before1().with(tree{group1 + "memory.limit_in_bytes": noLimit}), hit1,
			Kill{Sure: true, Peak: 67108000, Source: sure1.Source},
		},
		{"a kernel whose group counts no kills", before1().with(tree{
			group1 + "memory.oom_control":             "oom_kill_disable 0\nunder_oom 0\n",
			"sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n",
		}), tree{"proc/vmstat": "oom_kill 6\n"}, hint},
		{"our group is gone meanwhile", before1(), tree{group1 + "memory.oom_control": "", "proc/vmstat": "oom_kill 6\n"}, hint},
		{"no control groups at all", tree{"proc/vmstat": "oom_kill 0\n"}, tree{"proc/vmstat": "oom_kill 1\n"}, hint},
		{"mounted, but not said where we are", tree{"proc/vmstat": "oom_kill 0\n", "proc/self/mountinfo": mount2}, tree{"proc/vmstat": "oom_kill 1\n"}, hint},
		{"a kernel without any counter", tree{"proc/vmstat": "x 0\n"}, tree{"proc/vmstat": "oom_kill 1\n"}, Kill{}},
		{"nonsense", before2().with(tree{own + "memory.events": "oom_kill many\n", job + "memory.events": "\x00"}), ownKill, Kill{}},
		{"no /proc", tree{}, nil, Kill{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			tt.before.write(t, root)
			w := Watch(root)
			tt.after.write(t, root)
			got, ok := w.Explain()
			if ok != (tt.want != Kill{}) {
				t.Errorf("Explain = %v", ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if again, _ := w.Explain(); again != got {
				t.Errorf("asked again: %+v", again)
			}
		})
	}
}

// Each attempt has its own Watcher: an old kill explains nothing new.
func TestOldKillsDoNotCount(t *testing.T) {
	root := t.TempDir()
	before2().write(t, root)
	first := Watch(root)
	tree{own + "memory.events": "oom 3\noom_kill 2\n"}.write(t, root)
	second := Watch(root)
	if _, ok := first.Explain(); !ok {
		t.Error("the first attempt's kill is not seen")
	}
	if k, ok := second.Explain(); ok {
		t.Errorf("the second attempt is blamed for the first: %+v", k)
	}
}

func FuzzLimit(f *testing.F) {
	f.Add("max\n", "0\n", "oom_kill 1\n")
	f.Add("9223372036854771712\n", "67108864", "oom 1\noom_kill 9223372036854775807\n")
	f.Add("-1\n", "-5", "oom_kill -1\noom -2")
	f.Fuzz(func(t *testing.T, limit, peak, events string) {
		root := t.TempDir()
		before2().with(tree{own + "memory.max": limit, own + "memory.peak": peak}).write(t, root)
		w := Watch(root)
		tree{own + "memory.events": events}.write(t, root)
		if k, ok := w.Explain(); ok && (!k.Sure || k.Limit < 0 || k.Peak < 0 || k.String() == "") {
			t.Errorf("%+v", k)
		}
	})
}
