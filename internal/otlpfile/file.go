package otlpfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// DefaultLimit is the size that a file does not grow beyond, in bytes.
const DefaultLimit = 256 << 20

// ErrFull says that a line would make the file larger than its limit.
var ErrFull = errors.New("the file has reached its limit")

// Options of a File.
type Options struct {
	Limit int64 // in bytes; 0: DefaultLimit
}

// Stats is what became of the spans.
type Stats struct {
	Written, Lost int64 // spans
	Errors        int64 // requests that were not written
	First         error // of these
}

// output is a file that other processes may append to as well.
type output interface {
	begin() (size int64, err error) // keeps the others out
	end()
	Write(b []byte) (int, error)
	Truncate(size int64) error
	Close() error
}

// File is an open file. Its methods may be called at the same time.
type File struct {
	path  string
	limit int64

	mu    sync.Mutex
	out   output // nil once it is closed
	stats Stats
}

// Open makes the file or continues it. A line at the end that is not whole is cut off.
func Open(path string, o Options) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write spans to %s: %w", path, err)
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	return &File{path: path, limit: o.Limit, out: f}, nil
}

// Start does nothing: the file is open.
func (f *File) Start(context.Context) error { return nil }

// Stop closes the file. What comes later is lost, and counted.
func (f *File) Stop(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == nil {
		return nil
	}
	out := f.out
	f.out = nil
	if err := out.Close(); err != nil {
		return fmt.Errorf("cannot write spans to %s: %w", f.path, err)
	}
	return nil
}

// UploadTraces writes one line, or several if it would be too long for a reader; all of
// them or none. The context is asked before the write alone: a write to a file cannot be
// given up.
func (f *File) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	if len(spans) == 0 {
		return nil
	}
	return f.upload(ctx, count(spans), func() []byte { return appendSpans(nil, spans, longestLine) })
}

// UploadMetrics writes one line of metrics. They are not counted in [Stats.Written].
func (f *File) UploadMetrics(ctx context.Context, request *colmetricpb.ExportMetricsServiceRequest) error {
	return f.upload(ctx, 0, func() []byte { return append(appendJSON(nil, request.ProtoReflect()), '\n') })
}

func (f *File) upload(ctx context.Context, spans int64, encode func() []byte) error {
	err := ctx.Err()
	var lines []byte
	if err == nil {
		lines = encode()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = f.write(lines)
	}
	if err == nil {
		f.stats.Written += spans
		return nil
	}
	f.stats.Lost += spans
	f.stats.Errors++
	err = fmt.Errorf("cannot write spans to %s: %w", f.path, err)
	if f.stats.First == nil {
		f.stats.First = err
	}
	return err
}

// write leaves whole lines or none.
func (f *File) write(lines []byte) error {
	if f.out == nil {
		return os.ErrClosed
	}
	// Where the line will begin: the launcher, its guard and the next launcher all
	// append to the file of a run.
	size, err := f.out.begin()
	if err != nil {
		return err
	}
	defer f.out.end()
	if size+int64(len(lines)) > f.limit {
		return ErrFull
	}
	n, err := f.out.Write(lines)
	if err == nil {
		return nil
	}
	if n > 0 {
		if cut := f.out.Truncate(size); cut != nil {
			// The next line must not become part of this one's rest: no more of them.
			f.limit = 0
			err = errors.Join(err, cut)
		}
	}
	return err
}

// Stats says what became of the spans up to now.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}
