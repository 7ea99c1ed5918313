package otlpfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

// long is a request of so many bytes in names, in resources and scopes of 1, 2, ... spans.
func long(resources, size int) (list []*tracepb.ResourceSpans) {
	for r := range resources {
		resource := &tracepb.ResourceSpans{
			Resource: &resourcepb.Resource{DroppedAttributesCount: uint32(r + 1)}, SchemaUrl: fmt.Sprint("resource ", r),
		}
		for s := range r + 1 {
			scope := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: fmt.Sprint(s)}, SchemaUrl: fmt.Sprint("scope ", s)}
			for n := range s + 1 {
				scope.Spans = append(scope.Spans, &tracepb.Span{Name: fmt.Sprint(r, s, n, strings.Repeat("n", size))})
			}
			resource.ScopeSpans = append(resource.ScopeSpans, scope)
		}
		list = append(list, resource)
	}
	return list
}

// flat is each span with what it belongs to.
func flat(list []*tracepb.ResourceSpans) (out []*tracepb.ResourceSpans) {
	for _, r := range list {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				out = append(out, &tracepb.ResourceSpans{Resource: r.Resource, SchemaUrl: r.SchemaUrl, ScopeSpans: []*tracepb.ScopeSpans{
					{Scope: s.Scope, SchemaUrl: s.SchemaUrl, Spans: []*tracepb.Span{span}},
				}})
			}
		}
	}
	return out
}

// Whatever a request is made of, its lines are short enough and hold all of it in order.
// (4,096 spans of a killed worker made a line of 2.9 MB, which no Collector could read.)
func TestLongRequest(t *testing.T) {
	const longest = 4000
	for _, test := range []struct{ resources, size, least, most int }{
		{4, 10, 1, 1}, {4, 200, 2, 4}, {4, longest / 3, 10, 20}, {8, longest / 50, 2, 20},
		{1, longest, 1, 1}, {2, longest, 4, 4}, // a single span is longer
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			request := long(test.resources, test.size)
			before := proto.CloneOf(request[0])
			text := appendSpans([]byte("before\n"), request, longest)
			if !proto.Equal(before, request[0]) {
				t.Error("the request was changed")
			}
			text, ok := bytes.CutPrefix(text, []byte("before\n"))
			var got []*tracepb.ResourceSpans
			n := 0
			for line := range bytes.Lines(text) {
				got = append(got, decode(t, line).ResourceSpans...)
				if n++; len(line) > longest && test.size < longest {
					t.Errorf("line %d has %d bytes", n, len(line))
				}
			}
			if diff := cmp.Diff(flat(request), flat(got), protocmp.Transform()); diff != "" || !ok {
				t.Errorf("(-want +got):\n%.3000s", diff)
			}
			if n < test.least || n > test.most {
				t.Errorf("%d lines, want %d to %d", n, test.least, test.most)
			}
		})
	}
}

// Whoever has spans to give back must not find some of them written.
func TestLinesOfARequestAllOrNone(t *testing.T) {
	request := long(2, longestLine/3)
	whole := int64(len(appendSpans(nil, request, longestLine)))
	for limit, want := range map[int64]int{whole - 1: 0, whole: 2} {
		path := filepath.Join(t.TempDir(), "x")
		f := opened(t, path, Options{Limit: limit})
		if err := f.UploadTraces(t.Context(), request); (err == nil) != (want > 0) || err != nil && !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(text, []byte{'\n'}); got != want {
			t.Errorf("limit %d: %d lines written, want %d", limit, got, want)
		}
		if s := f.Stats(); s.Written+s.Lost != count(request) || (s.Lost == 0) != (want > 0) {
			t.Errorf("%+v", s)
		}
	}
}
