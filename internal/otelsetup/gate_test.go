package otelsetup

import (
	"context"
	"testing"
	"time"
)

func TestBatchDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": defaultDelay, "soon": defaultDelay, "99999999999999999999": defaultDelay, "1e3": defaultDelay,
		"0": leastDelay, "-5": leastDelay, "-9223372036854775808": leastDelay, "1": leastDelay,
		"10": 10 * time.Millisecond, " 250 ": 250 * time.Millisecond, "3600000": time.Hour,
		"3600001": mostDelay, "9223372036854775807": mostDelay,
	} {
		if got := batchDelay(map[string]string{"OTEL_BSP_SCHEDULE_DELAY": text}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// It is the environment that was given which counts, not what the SDK finds by itself.
func TestBatchDelayIsTaken(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	r := startGRPC(t)
	r.came = make(chan struct{}, 1)
	telemetry, _ := start(t, longEnough, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_BSP_SCHEDULE_DELAY": "0"})
	_, span := telemetry.Tracer.Start(context.Background(), "span")
	span.End()
	<-r.came // nobody has asked for it
	telemetry.Shutdown("end")
}
