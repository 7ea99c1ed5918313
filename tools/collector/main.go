// Command collector is an OpenTelemetry Collector for this repository's tests: the
// project's own core and OTLP receiver, and the file exporter of its contrib
// repository, whose file is the judge of what arrived.
//
// It is a module of its own, so that a Collector's dependencies are none of the
// launcher's. All versions are of one release, the newest that could be fetched whole.
// The contrib repository's otlpjsonfile receiver is not among them: no version of it
// could be fetched and checked against the checksum database. The OTLP receiver takes
// the same JSON over HTTP, and has the same decoder read it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

func main() {
	// Its own handler comes after it has said that it is ready: a test that is short ends
	// it in between.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Description: "OpenTelemetry Collector for tests"},
		Factories: factories, DisableGracefulShutdown: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
		}},
	})
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "collector:", err)
		os.Exit(1)
	}
}

func factories() (otelcol.Factories, error) {
	in, out := otlpreceiver.NewFactory(), fileexporter.NewFactory()
	return otelcol.Factories{
		Receivers: map[component.Type]receiver.Factory{in.Type(): in},
		Exporters: map[component.Type]exporter.Factory{out.Type(): out},
		// The standard one, which can also export what the Collector measures of
		// itself, would be a sixth of the build.
		Telemetry: telemetry.NewFactory(func() component.Config { return &struct{}{} }, telemetry.WithCreateLogger(logger)),
	}, nil
}

// logger writes JSON lines on stderr: a program waits for some of them.
func logger(_ context.Context, set telemetry.LoggerSettings, _ component.Config) (*zap.Logger, component.ShutdownFunc, error) {
	log, err := set.BuildZapLogger(zap.NewProductionConfig())
	return log, nil, err
}
