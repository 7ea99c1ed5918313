package otelsetup

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/url"
)

// Destination is a collector that telemetry would be sent to.
type Destination struct {
	Signals  string   // "traces", "metrics" or "traces and metrics"
	Protocol string   // "grpc" or "http/protobuf"
	Endpoint *url.URL // of the first of them; it may hold a password
	Shown    string   // the same for people, without secrets
	TLS      *tls.Config
	Proxy    string // the host of the proxy on the way there, empty: none
}

// Destinations is to which collectors telemetry would go, as [Setup] would decide, and
// where it goes else: a file, "console", empty: nowhere. Nothing is connected. With an error
// there is less than was asked for.
func (o Options) Destinations() (list []Destination, other string, err error) {
	r, err := o.route()
	if r.on() && r.plan.exporter != exporterOTLP || r.file != "" {
		other = r.String()
	}
	if r.plan.exporter == exporterOTLP {
		list = append(list, r.plan.destination(o.Env, "traces"))
	}
	if alone, _ := o.metricsAlone(); !r.on() && (err != nil || !alone) {
		return list, other, err // then there are no metrics either
	}
	route, failed := o.routeOf(metrics)
	m := route.plan
	switch err = cmp.Or(err, failed); {
	case m.exporter != exporterOTLP:
	case len(list) > 0 && sameServer(list[0], m):
		list[0].Signals = "traces and metrics"
	default:
		list = append(list, m.destination(o.Env, "metrics"))
	}
	return list, other, err
}

func sameServer(d Destination, p plan) bool {
	a, b := d.Endpoint, p.endpoint
	return d.Protocol == p.protocol && a.Scheme == b.Scheme && a.Host == b.Host && (a.Scheme != "unix" || a.Path == b.Path)
}

// destination is where a plan of the exporter otlp leads.
func (p plan) destination(env map[string]string, signals string) Destination {
	d := Destination{
		Signals: signals, Protocol: p.protocol, Endpoint: p.endpoint,
		Shown: (&url.URL{Scheme: p.endpoint.Scheme, Host: p.endpoint.Host, Path: p.endpoint.Path}).String(),
	}
	// The variables were read before, and found right.
	if c, err := readConfig(env, p.signal, p.endpoint.Scheme == "https"); err == nil {
		d.TLS = c.tls
	}
	at := *p.endpoint
	if p.protocol == protocolGRPC {
		at.Scheme = "https" // gRPC makes a tunnel through a proxy in any case
	}
	if p.endpoint.Scheme == "unix" {
		return d
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &at}); err == nil && proxy != nil {
		d.Proxy = proxy.Host
	}
	return d
}
