package collector

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Wherever the Collector was killed, what is whole is found, and nothing else.
func TestSplit(t *testing.T) {
	messages := [][]byte{[]byte("first"), {}, bytes.Repeat([]byte("long"), 100)}
	var data []byte
	ends := []int{}
	for _, m := range messages {
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(m))), m...)
		ends = append(ends, len(data))
	}
	for cut := range len(data) + 1 {
		whole, at := 0, 0
		for i, end := range ends {
			if cut >= end {
				whole, at = i+1, end
			}
		}
		got, rest := split(data[:cut])
		if diff := cmp.Diff(messages[:whole], got, cmp.Transformer("text", func(b []byte) string { return string(b) })); whole > 0 && diff != "" || whole == 0 && got != nil {
			t.Errorf("cut at %d (-want +got):\n%s", cut, diff)
		}
		if rest != cut-at {
			t.Errorf("cut at %d: rest %d, want %d", cut, rest, cut-at)
		}
	}
}

func TestLog(t *testing.T) {
	l := newLog()
	l.read(bytes.NewBufferString(`{"level":"info","msg":"Starting GRPC server","endpoint":"127.0.0.1:38861"}
panic: this is no JSON
{"level":"info","msg":"Starting HTTP server","endpoint":"127.0.0.1:43789"}
{"level":"info","msg":"Everything is ready. Begin running and processing data."}
the end`))
	select {
	case <-l.ready:
	default:
		t.Error("not ready")
	}
	if diff := cmp.Diff(map[string]string{GRPC: "127.0.0.1:38861", HTTP: "127.0.0.1:43789"}, l.endpoints); diff != "" {
		t.Error(diff)
	}
	if !bytes.HasSuffix([]byte(l.text()), []byte("the end")) {
		t.Errorf("%q", l.text())
	}
}
