package journal

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const formatDoc = "../docs/journal-format.md"

// example is the journal of the document: everything in it is written by this package,
// with the numbers of a worker that never was.
func example(t *testing.T) []byte {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	path, err := Create(t.TempDir(), RankName("attempt-0", 0), Header{RunID: "run-7", Attempt: 1, Rank: 3, Slots: 4, Created: at})
	if err != nil {
		t.Fatal(err)
	}
	w := opened(t, path)
	le.PutUint64(w.data[offPID:], 4711)
	le.PutUint64(w.data[offTicks:], 123456)
	le.PutUint64(w.data[offClaimed:], uint64(at.Add(time.Second).UnixNano()))
	word64(w.data, offClaim).Store(claimWord(w.data))
	w.Wrap(nil)
	w.SetProgress(12, 1)
	step := exampleSpan("step", 0xa1, 0, at.Add(2*time.Second))
	load := exampleSpan("load batch", 0xb2, 0xa1, at.Add(3*time.Second))
	load.EndTime = load.StartTime.Add(time.Second / 2)
	load.Status.Code = codes.Ok
	for _, stub := range []tracetest.SpanStub{step, load} {
		w.start(stub.Snapshot(), stub.SpanContext, stub.Parent)
	}
	w.OnEnd(load.Snapshot())
	return w.data
}

func exampleSpan(name string, id, parent byte, at time.Time) tracetest.SpanStub {
	context := func(id byte) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{0x11, 15: 0x22}, SpanID: trace.SpanID{id, 7: id}, TraceFlags: trace.FlagsSampled,
		})
	}
	s := tracetest.SpanStub{
		Name: name, SpanContext: context(id), SpanKind: trace.SpanKindInternal, StartTime: at,
		InstrumentationScope: instrumentation.Scope{Name: "train", Version: "1.0"},
		Resource:             resource.NewSchemaless(attribute.String("service.name", "train"), attribute.Int("nv.dl.rank", 3)),
	}
	if parent != 0 {
		s.Parent = context(parent)
	}
	return s
}

// dump is the file as hexdump -C shows it: runs of equal lines as "*", in pieces that
// begin at the parts of the file.
func dump(b []byte) string {
	var out strings.Builder
	var last []byte
	starred := false
	for at := 0; at < len(b); at += 16 {
		line := b[at : at+16]
		begins := at == offPID || at == offResource || at >= offScopes && at%scopeSize == 0
		if last != nil && bytes.Equal(line, last) && !(begins && !zero(line)) {
			if !starred {
				out.WriteString("*\n")
			}
			starred = true
			continue
		}
		starred, last = false, line
		text := strings.TrimSuffix(hex.Dump(line), "\n")
		fmt.Fprintf(&out, "%08x%s\n", at, text[8:])
	}
	fmt.Fprintf(&out, "%08x\n", len(b))
	return out.String()
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// The document's hex dump is what the code writes. The flag -update writes it there.
func TestFormatDocument(t *testing.T) {
	text, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)(<!-- the example -->\n```\n).*?(```\n)")
	if !block.Match(text) {
		t.Fatalf("%s has no block for the example", formatDoc)
	}
	want := block.ReplaceAll(text, []byte("${1}"+dump(example(t))+"${2}"))
	if bytes.Equal(want, text) {
		return
	}
	if *update {
		if err := os.WriteFile(formatDoc, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what the code writes: run go test ./journal -run TestFormatDocument -update", formatDoc)
}

var update = flag.Bool("update", false, "write the example into docs/journal-format.md")

// Every offset that the document's tables name is the code's.
func TestFormatDocumentNumbers(t *testing.T) {
	text, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	for what, offset := range map[string]int{
		"magic": 0, "version": offVersion, "slot size": offSlotSize, "slot count": offSlots, "attempt": offAttempt, "rank": offRank,
		"length of the run id": offRunIDLen, "time of creation": offCreated, "run id": offRunID, "CRC of 0..295": offCRC,
		"pid": offPID, "start of the process": offTicks, "time of the claim": offClaimed, "check of the claim": offClaim,
		"clean shutdown": offClean, "spans without a slot": offSkipped, "last activity": offActivity,
		"word of the resource": offResource, "resource": offResource + 8, "scopes": offScopes, "slots": offSlot,
		"state word": slotState, "CRC of 16..231": slotCRC, "check byte": slotMarks, "status": slotMarks + 1, "kind": slotMarks + 2, "flags": slotMarks + 3,
		"trace id": slotTrace, "span id": slotSpan, "parent id": slotParent, "start": slotStart, "thread": slotThread, "scope": slotScope,
		"length of the name": slotNameN, "name": slotName, "step": slotStep, "epoch": slotEpoch, "end": slotEnd,
	} {
		if row := fmt.Sprintf("| %d | ", offset); !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(row) + `\d+ \| ` + regexp.QuoteMeta(what) + `(\b|:| )`).Match(text) {
			t.Errorf("no row %q for %s", row, what)
		}
	}
}
