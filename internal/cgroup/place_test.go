package cgroup

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts of real machines, shortened.
const (
	systemdMounts = `22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
25 22 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
29 25 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	hybridMounts = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`
	version1Mounts = `31 23 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:10 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:11 - cgroup cgroup rw,memory
`
	// A container with a cgroup namespace of its own, delegated by its runtime.
	privateMounts = `512 490 0:75 / / rw,relatime - overlay overlay rw,lowerdir=/l
520 512 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate
`
	kubernetesMounts = `812 790 0:240 / / rw,relatime - overlay overlay rw,lowerdir=/l
822 815 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate
`
	// A container in the host's cgroup namespace; only its own group is bound.
	boundMounts = `520 512 0:26 /system.slice/docker-4f.scope /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw
`
	boundVersion1 = `520 512 0:26 /docker/4f /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory
`
)

func TestPlaces(t *testing.T) {
	tests := []struct {
		name               string
		mounts, membership string
		controller         string
		want               []Place
		err                string
	}{
		{
			name: "pure version 2 under systemd", mounts: systemdMounts,
			membership: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n",
			want: []Place{{
				Dir: "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope",
				Top: "/sys/fs/cgroup",
			}},
		},
		{
			name: "hybrid", mounts: hybridMounts,
			membership: "9:name=systemd:/\n4:memory:/jobs/7\n1:cpu:/\n0::/\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/unified", Top: "/sys/fs/cgroup/unified"}},
		},
		{
			name: "hybrid, the memory controller", mounts: hybridMounts, controller: "memory",
			membership: "9:name=systemd:/\n4:memory:/jobs/7\n1:cpu:/\n0::/\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/memory/jobs/7", Top: "/sys/fs/cgroup/memory"}},
		},
		{
			name: "version 1 only", mounts: version1Mounts, membership: "4:memory:/\n3:cpu,cpuacct:/\n",
			err: "no version 2 hierarchy is mounted",
		},
		{
			name: "version 1, a controller that shares its hierarchy", mounts: version1Mounts, controller: "cpuacct",
			membership: "4:memory:/\n3:cpu,cpuacct:/a:b\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/cpu,cpuacct/a:b", Top: "/sys/fs/cgroup/cpu,cpuacct"}},
		},
		{
			name: "version 2 only, asked for a version 1 controller", mounts: systemdMounts, controller: "memory",
			membership: "0::/\n",
			err:        "no version 1 hierarchy with memory is mounted",
		},
		{
			name: "container with its own cgroup namespace", mounts: privateMounts, membership: "0::/\n",
			want: []Place{{Dir: "/sys/fs/cgroup", Top: "/sys/fs/cgroup"}},
		},
		{
			name: "container in the host's cgroup namespace, own group bound", mounts: boundMounts,
			membership: "0::/system.slice/docker-4f.scope\n",
			want:       []Place{{Dir: "/sys/fs/cgroup", Top: "/sys/fs/cgroup"}},
		},
		{
			name: "the same, nested deeper", mounts: boundMounts,
			membership: "0::/system.slice/docker-4f.scope/init/job 1\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/init/job 1", Top: "/sys/fs/cgroup"}},
		},
		{
			name: "the same, version 1", mounts: boundVersion1, controller: "memory",
			membership: "5:memory:/docker/4f\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/memory", Top: "/sys/fs/cgroup/memory", ReadOnly: true}},
		},
		{
			name: "a neighbour's group is bound, whose name begins like ours", mounts: boundMounts,
			membership: "0::/system.slice/docker-4f.scope2\n",
			err:        "our group /system.slice/docker-4f.scope2 is not in what is mounted at /sys/fs/cgroup (/system.slice/docker-4f.scope)",
		},
		{
			name: "Kubernetes pod, read-only", mounts: kubernetesMounts, membership: "0::/\n",
			want: []Place{{Dir: "/sys/fs/cgroup", Top: "/sys/fs/cgroup", ReadOnly: true}},
		},
		{
			name: "the newest mount first", mounts: systemdMounts + "99 22 0:26 / /mnt/cg\\0402 rw - cgroup2 none rw\n",
			membership: "0::/a\n",
			want:       []Place{{Dir: "/mnt/cg 2/a", Top: "/mnt/cg 2"}, {Dir: "/sys/fs/cgroup/a", Top: "/sys/fs/cgroup"}},
		},
		{
			name:       "mounted before our cgroup namespace was made, and again after",
			mounts:     "29 25 0:26 /../.. /sys/fs/cgroup rw - cgroup2 c rw\n99 22 0:26 / /mnt rw - cgroup2 c rw\n",
			membership: "0::/a\n",
			want:       []Place{{Dir: "/mnt/a", Top: "/mnt"}},
		},
		{
			name:       "only mounted before our cgroup namespace was made: the names in between are unknown",
			mounts:     "29 25 0:26 /.. /sys/fs/cgroup rw - cgroup2 c rw\n",
			membership: "0::/a\n",
			err:        "our group /a is not in what is mounted at /sys/fs/cgroup (/..)",
		},
		{
			name: "moved outside of the cgroup namespace", mounts: privateMounts, membership: "0::/../sibling\n",
			err: "our group /../sibling is not in what is mounted at /sys/fs/cgroup (/)",
		},
		{
			name:       "outside, but in a mount that begins as far outside",
			mounts:     "29 25 0:26 /.. /sys/fs/cgroup rw - cgroup2 c rw\n",
			membership: "0::/../sibling/x\n",
			want:       []Place{{Dir: "/sys/fs/cgroup/sibling/x", Top: "/sys/fs/cgroup"}},
		},
		{
			name:       "further outside than the mount",
			mounts:     "29 25 0:26 /.. /sys/fs/cgroup rw - cgroup2 c rw\n",
			membership: "0::/../../x\n",
			err:        "our group /../../x is not in what is mounted at /sys/fs/cgroup (/..)",
		},
		{
			name: "our group was removed", mounts: systemdMounts, membership: "0::/a (deleted)\n",
			err: "the version 2 hierarchy at /sys/fs/cgroup: our group /a was removed",
		},
		{
			name: "mounted, but we are not in it", mounts: hybridMounts, membership: "4:memory:/\n0:name=x:/y\nnonsense\n0::relative\n",
			err: "the version 2 hierarchy at /sys/fs/cgroup/unified: this process has no group in it",
		},
		{name: "nothing", err: "no version 2 hierarchy is mounted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Places(tt.mounts, tt.membership, tt.controller)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if text := errorText(err); text != tt.err {
				t.Errorf("error %q, want %q", text, tt.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Whatever the texts say, our group never lies outside of what is mounted.
func FuzzPlaces(f *testing.F) {
	f.Add(systemdMounts, "0::/user.slice\n", "")
	f.Add(hybridMounts, "4:memory:/../x\n0::/\n", "memory")
	f.Add("29 25 0:26 /../.. /sys/fs/cgroup rw - cgroup2 c rw\n", "0::/../../../a (deleted)\n", "")
	f.Fuzz(func(t *testing.T, mounts, membership, controller string) {
		places, err := Places(mounts, membership, controller)
		if (err == nil) != (len(places) > 0) {
			t.Errorf("%v with the error %v", places, err)
		}
		for _, p := range places {
			if p.Dir != path.Clean(p.Dir) || p.Dir != p.Top && !strings.HasPrefix(p.Dir, strings.TrimSuffix(p.Top, "/")+"/") {
				t.Errorf("%+v: our group is not below the mount", p)
			}
		}
	})
}
