package otelsetup

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/grpc"
)

// fileInterval is how often metrics go to a file by themselves, whatever is good for a
// collector. They are written after every attempt as well, and a job of weeks shall not
// fill a disk, or the file up to its limit, with what is unchanged.
const fileInterval = time.Hour

// meters is a provider of metrics and its readers, one for each place; none: nowhere.
type meters struct {
	provider *sdkmetric.MeterProvider
	readers  []sdkmetric.Reader
}

// openMetrics makes the provider of metrics, which go where the environment says for
// metrics, or where the spans go. With an error there may still be a place for them.
func openMetrics(ctx context.Context, o Options, own *resource.Resource, lost *metricsLost) (meters, error) {
	var m meters
	add := func(e sdkmetric.Exporter, every ...sdkmetric.PeriodicReaderOption) {
		e = ownMetrics{Exporter: e, resource: own, outcome: lost.place(e.Temporality(sdkmetric.InstrumentKindCounter))}
		m.readers = append(m.readers, sdkmetric.NewPeriodicReader(e, every...))
	}
	r, err := o.routeOf(metrics)
	if r.plan.exporter != exporterNone {
		e, failed := r.plan.openMetrics(ctx, o.Env, o.Stderr)
		if err = errors.Join(err, failed); failed == nil {
			add(e)
		}
	}
	if r.file != "" {
		e, failed := openMetricFile(ctx, r.file)
		if err = errors.Join(err, failed); failed == nil {
			add(e, sdkmetric.WithInterval(fileInterval))
		}
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(own)}
	for _, r := range m.readers {
		options = append(options, sdkmetric.WithReader(r))
	}
	if len(m.readers) > 0 {
		m.provider = sdkmetric.NewMeterProvider(options...)
	}
	return m, err
}

// forceFlush exports what was measured to all places at once: one that does not answer
// must not keep it from the others. What goes wrong is kept by ownMetrics.
func (m meters) forceFlush(ctx context.Context) {
	m.each(func(r sdkmetric.Reader) {
		if periodic, ok := r.(*sdkmetric.PeriodicReader); ok {
			_ = periodic.ForceFlush(ctx)
		}
	})
}

// shutdown is forceFlush for the last time.
func (m meters) shutdown(ctx context.Context) {
	m.each(func(r sdkmetric.Reader) { _ = r.Shutdown(ctx) })
}

func (m meters) each(do func(sdkmetric.Reader)) {
	var group sync.WaitGroup
	for _, r := range m.readers {
		group.Go(func() { do(r) })
	}
	group.Wait()
}

// openMetrics makes the exporter of the plan. No connection is made yet.
func (p plan) openMetrics(ctx context.Context, env map[string]string, stderr io.Writer) (sdkmetric.Exporter, error) {
	if p.exporter == exporterConsole {
		return stdoutmetric.New(stdoutmetric.WithWriter(stderr))
	}
	c, err := readConfig(env, p.signal, p.endpoint.Scheme == "https")
	if err != nil {
		return nil, err
	}
	if p.protocol == protocolHTTP {
		return p.openMetricsHTTP(ctx, c)
	}
	target, transport := p.grpcTarget(c)
	options := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpoint(target), otlpmetricgrpc.WithHeaders(c.headers), otlpmetricgrpc.WithTimeout(c.timeout),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryLimit,
		}),
		otlpmetricgrpc.WithDialOption(grpc.WithTransportCredentials(transport)),
	}
	if c.gzip {
		options = append(options, otlpmetricgrpc.WithCompressor("gzip"))
	}
	return otlpmetricgrpc.New(ctx, options...)
}

func (p plan) openMetricsHTTP(ctx context.Context, c config) (sdkmetric.Exporter, error) {
	transport := c.transport()
	options := []otlpmetrichttp.Option{
		otlpmetrichttp.WithTLSClientConfig((*tls.Config)(nil)), // not what the process's environment says
		otlpmetrichttp.WithEndpointURL(p.endpoint.String()),
		otlpmetrichttp.WithHTTPClient(&http.Client{Transport: transport, Timeout: c.timeout}),
		otlpmetrichttp.WithHeaders(c.headers),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryLimit,
		}),
	}
	if c.gzip {
		options = append(options, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	exporter, err := otlpmetrichttp.New(ctx, options...)
	if err != nil {
		return nil, err
	}
	return closingMetrics{Exporter: exporter, close: transport.CloseIdleConnections}, nil
}

// closingMetrics is an exporter with something to close after its shutdown.
type closingMetrics struct {
	sdkmetric.Exporter
	close func()
}

func (c closingMetrics) Shutdown(ctx context.Context) error {
	defer c.close()
	return c.Exporter.Shutdown(ctx)
}

// ownMetrics gives metrics the launcher's own resource, as counter does to spans, and
// keeps an error from the SDK, which would print it.
type ownMetrics struct {
	sdkmetric.Exporter
	resource *resource.Resource
	outcome  func(error)
}

func (m ownMetrics) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	if len(data.ScopeMetrics) == 0 {
		return nil // nothing was measured
	}
	own := *data
	own.Resource = m.resource
	m.outcome(m.Exporter.Export(ctx, &own))
	return nil
}

// metricsLost is why values of metrics have not arrived, for each place. As a rule values
// are sums, so those that came before the latest do not matter.
type metricsLost struct {
	mu     sync.Mutex
	causes []error
}

// place takes note for one more place: nil when the latest values have arrived there. Where
// each export has what is new alone, one that failed stays lost.
func (l *metricsLost) place(kind metricdata.Temporality) (outcome func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.causes)
	l.causes = append(l.causes, nil)
	return func(cause error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if cause != nil || kind != metricdata.DeltaTemporality {
			l.causes[i] = cause
		}
	}
}

func (l *metricsLost) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.causes...)
}
