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

// fileInterval is how often metrics go to a file by themselves. They are written after
// every attempt as well, and a job of weeks shall not fill a disk with what is unchanged.
const fileInterval = time.Hour

// openMetrics makes the provider of metrics, which go where the environment says for
// metrics, or where the spans go. Nil: nowhere. With an error they may still go to a file.
func openMetrics(ctx context.Context, o Options, own *resource.Resource, lost *metricsLost) (*sdkmetric.MeterProvider, error) {
	p, err := decide(o.Env, metrics)
	options := []sdkmetric.Option{sdkmetric.WithResource(own)}
	add := func(e sdkmetric.Exporter, every ...sdkmetric.PeriodicReaderOption) {
		reader := sdkmetric.NewPeriodicReader(ownMetrics{Exporter: e, resource: own, lost: lost}, every...)
		options = append(options, sdkmetric.WithReader(reader))
	}
	file := o.filesFor(p).metrics
	if err == nil && o.Mode == ModeOn && p.exporter == exporterNone && !p.named && file == "" {
		p, err = decideOTLP(o.Env, metrics)
	}
	if err == nil && p.exporter != exporterNone {
		var e sdkmetric.Exporter
		if e, err = p.openMetrics(ctx, o.Env, o.Stderr); err == nil {
			add(e)
		}
	}
	if file != "" {
		e, fileErr := openMetricFile(ctx, file)
		err = errors.Join(err, fileErr)
		if fileErr == nil {
			var every []sdkmetric.PeriodicReaderOption
			if value(o.Env, "OTEL_METRIC_EXPORT_INTERVAL") == "" {
				every = append(every, sdkmetric.WithInterval(fileInterval))
			}
			add(e, every...)
		}
	}
	if len(options) == 1 {
		return nil, err
	}
	return sdkmetric.NewMeterProvider(options...), err
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
	lost     *metricsLost
}

func (m ownMetrics) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	if len(data.ScopeMetrics) == 0 {
		return nil // nothing was measured
	}
	own := *data
	own.Resource = m.resource
	m.lost.set(m.Exporter.Export(ctx, &own))
	return nil
}

// metricsLost is why the latest values of metrics have not arrived, nil: they have. Values
// are sums, so those that came before do not matter.
type metricsLost struct {
	mu    sync.Mutex
	cause error
}

func (l *metricsLost) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause = err
}

func (l *metricsLost) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}
