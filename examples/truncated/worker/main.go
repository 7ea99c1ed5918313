// Command worker is a rank that has spans in spans: it loads data, steps and waits for
// the others. As most programs it does nothing about SIGTERM, so it cannot export what it
// has open then. A real one is in Python: see examples/python.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run() error {
	// The resource is that of OTEL_RESOURCE_ATTRIBUTES: the rank's own. Nothing exports
	// here: what is open is in the journal that the launcher gave this process.
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(resource.Environment()), sdktrace.WithSpanProcessor(journal.FromEnv()))
	tracer := provider.Tracer("train")
	ctx, train := tracer.Start(context.Background(), "train")
	defer train.End()
	for step := 1; ; step++ {
		if err := one(ctx, tracer, step); err != nil {
			return err
		}
	}
}

// one is a step. In the third every rank waits for a rank that never comes.
func one(ctx context.Context, tracer trace.Tracer, step int) error {
	ctx, span := tracer.Start(ctx, fmt.Sprintf("step %d", step))
	defer span.End()
	_, load := tracer.Start(ctx, "load batch")
	<-time.After(20 * time.Millisecond)
	load.End()
	name := "allreduce"
	if os.Getenv("RANK") == "2" {
		name = "write checkpoint"
	}
	_, sync := tracer.Start(ctx, name)
	defer sync.End()
	if step < 3 {
		<-time.After(50 * time.Millisecond)
		return nil
	}
	if err := ready(); err != nil {
		return err
	}
	<-time.After(time.Hour) // it never comes
	return nil
}

// ready tells whoever waits for it that this rank is in the middle of its work.
func ready() error {
	pipe, err := os.OpenFile(os.Getenv("READY"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(pipe, os.Getenv("RANK"), os.Getpid())
	if closeErr := pipe.Close(); err == nil {
		err = closeErr
	}
	return err
}
