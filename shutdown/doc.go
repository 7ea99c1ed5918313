// Package shutdown exports the spans that are still open when a program shuts
// its telemetry down. They are the ones that say what it was doing, and the
// SDK drops them: a span is exported only when it ends.
//
// [OpenSpans] is a span processor. Registered before the processor that
// exports, it tracks what starts, forgets what ends, and at Shutdown ends what
// is left, innermost first:
//
//	open := shutdown.New()
//	provider := trace.NewTracerProvider(
//		trace.WithSpanProcessor(open),                               // first
//		trace.WithBatcher(exporter, trace.WithBlocking()))           // then
//	...
//	open.SetReason("stopped by SIGTERM")
//	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
//	defer cancel()
//	provider.Shutdown(ctx)
//
// Three things about this example matter. Registered after the exporting
// processor it would export nothing. The context is fresh: with one that is
// already cancelled, TracerProvider.Shutdown runs no processor at all and
// makes every later call a no-op. And the batch queue (2,048 spans) must block
// or be larger than the number of open spans, or it drops most of them.
//
// A span that was force-closed has the attribute nemo.span.truncated = true
// and an event of the same name with the attribute nemo.span.truncated.reason.
// Its end is the time of the shutdown, not of the work: leave such spans out
// of statistics of durations. Its status is as it was. No other span has the
// attribute.
//
// What it does not do: ForceFlush ends nothing; spans started after Shutdown
// are not tracked; spans that are not sampled are not tracked and cost
// nothing. A span that already has as many attributes as its limit allows
// (128 by default) has no room for the attribute and shows the event alone.
// Should the program itself end a span in the same moment in which it is
// force-closed, its end time is the program's, with or without the event.
//
// Sources: the seed document on semantic conventions and the telemetry
// specification, "Truncated spans".
package shutdown
