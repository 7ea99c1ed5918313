package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Flag before variable before default.
func TestPrecedence(t *testing.T) {
	tests := []struct {
		name  string
		env   map[string]string
		flags []string
		want  setting
	}{
		{"default", nil, nil, setting{text: "0", from: "--max-restarts"}},
		{"an empty variable is unset", map[string]string{"LENSLAUNCH_MAX_RESTARTS": ""}, nil,
			setting{text: "0", from: "--max-restarts"}},
		{"variable", map[string]string{"LENSLAUNCH_MAX_RESTARTS": "2"}, nil,
			setting{text: "2", given: true, from: "LENSLAUNCH_MAX_RESTARTS"}},
		{"flag", map[string]string{"LENSLAUNCH_MAX_RESTARTS": "2"}, []string{"--max-restarts", "3"},
			setting{text: "3", given: true, from: "--max-restarts"}},
		{"the last flag", nil, []string{"--max-restarts", "3", "--max_restarts=4"},
			setting{text: "4", given: true, from: "--max-restarts"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := given(t, tt.env, tt.flags...).get("max-restarts")
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(setting{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepeatable(t *testing.T) {
	tests := []struct {
		name  string
		env   string
		flags []string
		want  []string
		from  string
	}{
		{name: "nothing"},
		{name: "flags in order, untouched", flags: []string{"--env", " A = x , y ", "--env=B=,", "--env", "A=2\n3"},
			want: []string{" A = x , y ", "B=,", "A=2\n3"}, from: "--env"},
		{name: "one entry per line", env: "A=1,2\nB= x \n", want: []string{"A=1,2", "B= x "}, from: "LENSLAUNCH_ENV"},
		{name: "blank lines are none", env: "\n  \nA=1\n\n", want: []string{"A=1"}, from: "LENSLAUNCH_ENV"},
		{name: "flags replace the variable", env: "A=1\nB=2", flags: []string{"--env", "C=3"}, want: []string{"C=3"}, from: "--env"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, v := range given(t, map[string]string{"LENSLAUNCH_ENV": tt.env}, tt.flags...).all("env") {
				got = append(got, v.text)
				if v.from != tt.from || !v.given {
					t.Errorf("%q is from %q (given: %v), want %q", v.text, v.from, v.given, tt.from)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSwitch(t *testing.T) {
	tests := []struct {
		env   string
		flags []string
		want  bool
	}{
		{"", nil, false},
		{"1", nil, true},
		{"true", nil, true},
		{"0", nil, false},
		{"0", []string{"-v"}, true},
		{"1", []string{"--verbose=0"}, false},
		{"maybe", []string{"--verbose=false", "-v"}, true},
	}
	for _, tt := range tests {
		got, err := given(t, map[string]string{"LENSLAUNCH_VERBOSE": tt.env}, tt.flags...).get("verbose").yes()
		if err != nil || got != tt.want {
			t.Errorf("variable %q, flags %q: %v, %v, want %v", tt.env, tt.flags, got, err, tt.want)
		}
	}
	if _, err := given(t, map[string]string{"LENSLAUNCH_VERBOSE": "maybe"}).get("verbose").yes(); err == nil {
		t.Error("LENSLAUNCH_VERBOSE=maybe is accepted")
	}
}

// Every flag of a run has its variable, and a switch for everybody (help, version)
// has none: LENSLAUNCH_VERSION is a name that packagers use.
func TestVariableNames(t *testing.T) {
	want := map[string]string{
		"nproc": "LENSLAUNCH_NPROC", "max-restarts": "LENSLAUNCH_MAX_RESTARTS", "attr-default": "LENSLAUNCH_ATTR_DEFAULT",
	}
	for _, f := range runFlags() {
		if name, ok := want[f.name]; ok && f.variable() != name {
			t.Errorf("--%s has variable %s, want %s", f.name, f.variable(), name)
		}
	}
	got := invoke(t, []string{"LENSLAUNCH_HELP=1", "LENSLAUNCH_VERSION=9.9"}, "uuid", "job", "--run-id", "r")
	if got.code != 0 || len(got.out) != 37 {
		t.Errorf("exit code %d, stdout %q, want a UUID", got.code, got.out)
	}
}
