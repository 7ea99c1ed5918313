// Command spanner is a rank that starts and ends a thousand spans a second, recorded in
// its journal, until it is ended. The benchmarks start it.
package main

import (
	"context"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"lenslaunch/journal"
)

func main() {
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(journal.FromEnv())).Tracer("spanner")
	ctx, train := tracer.Start(context.Background(), "train")
	defer train.End()
	fmt.Println("ready")
	for range time.Tick(10 * time.Millisecond) {
		for range 10 {
			_, step := tracer.Start(ctx, "step")
			step.End()
		}
	}
}
