package carrier

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// The limit is the kernel's own: a carrier that just fits starts a child, and one
// byte more is the E2BIG that the limit turns into an explanation.
func TestLimitIsTheKernels(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program to start")
	}
	if syscall.Getpagesize() != 4096 {
		t.Skip("larger pages allow longer strings; the limit is that of the smallest")
	}
	text, err := fit([]pair{{"k", strings.Repeat("v", maxStringBytes-len(Variable)-len("=k=\x00"))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text string
		want error
	}{{text, nil}, {text + "v", syscall.E2BIG}} {
		child := exec.CommandContext(t.Context(), program)
		child.Env = []string{Variable + "=" + tc.text}
		if err := child.Run(); !errors.Is(err, tc.want) {
			t.Errorf("a carrier of %d bytes: %v, want %v", len(tc.text), err, tc.want)
		}
	}
}

// The same through the front door.
func TestChildWithTheLongestCarrier(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program to start")
	}
	value := strings.Repeat("v", maxStringBytes-len(Variable)-len("=k=\x00"))
	err = Publish(t.Context(), []attribute.KeyValue{attribute.String("k", value)}, func(s *Scope) error {
		child := exec.CommandContext(t.Context(), program)
		child.Env = s.Environ()
		return child.Run()
	})
	if err != nil {
		t.Error(err)
	}
}
