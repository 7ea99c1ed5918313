//go:build interop

package interop

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/test/harness"
)

// codecCase is one request to workers/codec.py; exactly one of Parse, Format
// and Extend is there.
type codecCase struct {
	Parse     *string         `json:"parse,omitempty"`
	Format    json.RawMessage `json:"format,omitempty"`
	Extend    *string         `json:"extend,omitempty"`
	Defaults  json.RawMessage `json:"defaults,omitempty"`
	Overrides json.RawMessage `json:"overrides,omitempty"`
}

// texts are carriers with everything in them that a shell script, an operator
// or another library has been seen to write. Segments without a key or "=" are
// left to the vectors: the SDK's own parser keeps an empty key.
var texts = []string{
	"a=1", "a=1,b=2,a=3", " a = 1 , b = 2 ", "a=", "a==", "a=b=c", "a=+", "a=%2B+%2b",
	"team=red%20team", "odd=%2Fpre%2Dencoded", "a=%", "a=%4", "a=%zz", "a=%41%", "a=%e4", "a=%C3%A4%C3",
	"a=ä", "a=%F0%9F%8F%96", "a=%ED%A0%80", "a=%00", "id=007", "a=\u00a0x\u00a0", "a=%20x%20",
	"a%2Fb=1", "service.name=x,telemetry=%25", "a=%25%32%35", "a=~_.-!*'()", "a=1\t,\tb=2",
}

// objects are attribute sets as JSON; their order is part of the case.
var objects = []string{
	`{"z": 1, "a": 2, "m": 3}`, `{"b": true, "c": false, "n": null, "e": ""}`,
	`{"f": 0.5, "g": 1.0, "h": 123456789.0, "i": 1e16, "j": 1e-5, "k": -0.0, "l": 1.5e300}`,
	`{"f": 1e15, "g": 123456789012345680.0, "h": 5e-324, "i": 0.1, "j": 0.0001, "k": 0.00001}`,
	`{"i": 9223372036854775807, "j": -9223372036854775808, "k": 0}`,
	`{"s": "a,b=c d/e%f+g", "t": "ä🏖\u0000\n", "u": "~_.-!*'()", "v": "\u00a0"}`,
	`{" padded ": "x", "ünï": "y", "a b": "z"}`, `{}`,
}

// The text that this project makes of a carrier must be the text that Python
// makes of it, byte for byte, because one job mixes both.
func TestCodecAgreesWithPython(t *testing.T) {
	python := startCodec(t)
	for _, text := range texts {
		var want map[string]string
		python.ask(t, codecCase{Parse: &text}, &want)
		var got map[string]string
		decode(t, launcher(t, "", "carrier", "parse", "--format", "json", "--", text), &got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parse %q: Python and lenslaunch differ:\n%s", text, diff)
		}
	}
	for _, object := range objects {
		var want string
		python.ask(t, codecCase{Format: json.RawMessage(object)}, &want)
		if got := launcher(t, object, "carrier", "format"); got != want {
			t.Errorf("format %s: got %q, Python %q", object, got, want)
		}
	}
	for i, text := range texts {
		defaults, overrides := objects[i%len(objects)], objects[(i+1)%len(objects)]
		var want string
		python.ask(t, codecCase{
			Extend: &text, Defaults: json.RawMessage(defaults), Overrides: json.RawMessage(overrides),
		}, &want)
		got := launcher(t, "", "carrier", "extend", "--defaults", defaults, "--overrides", overrides, "--", text)
		if got != want {
			t.Errorf("extend %q by %s and %s:\n got   %q\n Python %q", text, defaults, overrides, got, want)
		}
	}
}

// launcher returns what a subcommand printed, without the final newline.
func launcher(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	outcome := harness.Run(t, harness.Launch{Args: args, Stdin: stdin})
	outcome.RequireCode(t, 0)
	return strings.TrimSuffix(outcome.Stdout, "\n")
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("cannot read %q: %v", text, err)
	}
}

// codec is a running workers/codec.py.
type codec struct {
	requests *json.Encoder
	answers  *bufio.Scanner
}

func startCodec(t *testing.T) codec {
	t.Helper()
	cmd := exec.Command(os.Getenv(pythonVariable), "workers/codec.py")
	// The SDK complains of segments that it skips, which is not news here.
	cmd.Stderr = nil
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start Python: %v", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("workers/codec.py: %v", err)
		}
	})
	worker := codec{requests: json.NewEncoder(stdin), answers: bufio.NewScanner(stdout)}
	if !worker.answers.Scan() {
		t.Fatalf("workers/codec.py says nothing: %v", worker.answers.Err())
	}
	t.Logf("compared with %s", worker.answers.Text())
	return worker
}

func (c codec) ask(t *testing.T, request codecCase, answer any) {
	t.Helper()
	if err := c.requests.Encode(request); err != nil {
		t.Fatalf("cannot ask Python: %v", err)
	}
	if !c.answers.Scan() {
		t.Fatalf("Python did not answer: %v", c.answers.Err())
	}
	decode(t, c.answers.Text(), answer)
}
