package cgroup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMounts(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Mount
	}{
		{"nothing", "", nil},
		{"other file systems", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n", nil},
		{
			"version 2, no optional field",
			"41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
			[]Mount{{Version: 2, Root: "/", Point: "/sys/fs/cgroup", Options: []string{"rw", "nsdelegate", "memory_recursiveprot"}}},
		},
		{
			"several optional fields",
			"41 31 0:38 / /sys/fs/cgroup rw shared:9 master:1 propagate_from:2 unbindable - cgroup2 none rw\n",
			[]Mount{{Version: 2, Root: "/", Point: "/sys/fs/cgroup", Options: []string{"rw"}}},
		},
		{
			"version 1 names its controllers",
			"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n",
			[]Mount{{Version: 1, Root: "/", Point: "/sys/fs/cgroup/cpu,cpuacct", Options: []string{"rw", "cpu", "cpuacct"}}},
		},
		{
			"read-only by the mount",
			"41 31 0:38 / /c ro,nosuid - cgroup2 cgroup rw\n",
			[]Mount{{Version: 2, Root: "/", Point: "/c", ReadOnly: true, Options: []string{"rw"}}},
		},
		{
			"read-only by the file system",
			"41 31 0:38 / /c rw - cgroup2 cgroup ro\n",
			[]Mount{{Version: 2, Root: "/", Point: "/c", ReadOnly: true, Options: []string{"ro"}}},
		},
		{
			"escapes in root and mount point",
			`41 31 0:38 /a\134b /mnt/my\040cgroup\011x\012y rw - cgroup2 cgroup rw` + "\n",
			[]Mount{{Version: 2, Root: `/a\b`, Point: "/mnt/my cgroup\tx\ny", Options: []string{"rw"}}},
		},
		{
			"an empty source",
			"41 31 0:38 / /c rw - cgroup2  rw\n",
			[]Mount{{Version: 2, Root: "/", Point: "/c", Options: []string{"rw"}}},
		},
		{"a root outside of our namespace", "41 31 0:38 /../.. /c rw - cgroup2 c rw\n",
			[]Mount{{Version: 2, Root: "/../..", Point: "/c", Options: []string{"rw"}}}},
		{"no newline at the end", "41 31 0:38 / /c rw - cgroup2 c rw",
			[]Mount{{Version: 2, Root: "/", Point: "/c", Options: []string{"rw"}}}},
		{"too short", "41 31 0:38 / /c - cgroup2 c rw\n41 31 0:38 / /c rw - cgroup2\nnonsense\n\n", nil},
		{"paths that are none", "41 31 0:38 x /c rw - cgroup2 c rw\n41 31 0:38 / none rw - cgroup2 c rw\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ParseMounts(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"":             "",
		"/plain":       "/plain",
		`/a\040b`:      "/a b",
		`\040\040`:     "  ",
		`/a\134040`:    `/a\040`, // an escaped backslash is not read twice
		`/end\04`:      `/end\04`,
		`/end\`:        `/end\`,
		`/not\999octa`: `/not\999octa`,
		`/big\777`:     `/big\777`, // more than a byte
		`/max\377`:     "/max\377",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n")
	f.Add(`32 31 0:29 /a\040b /x\134 ro - cgroup  rw,cpu` + "\n - \n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ParseMounts(text) {
			if m.Version != 1 && m.Version != 2 || !strings.HasPrefix(m.Point, "/") || !strings.HasPrefix(m.Root, "/") {
				t.Errorf("%+v from %q", m, text)
			}
		}
	})
}
