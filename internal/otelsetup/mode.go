package otelsetup

import "fmt"

// Mode is what the user says of telemetry as a whole.
type Mode string

// The modes.
const (
	ModeAuto Mode = "auto" // where the environment or a run directory asks for it
	ModeOn   Mode = "on"   // in any case: without another place, to a collector on this host
	ModeOff  Mode = "off"
)

// route is where a signal goes.
type route struct {
	plan plan
	file string // beside or instead of the exporter; empty: none
}

// route decides where spans go. With an error there may still be a file.
func (o Options) route() (route, error) { return o.routeOf(traces) }

// routeOf is route for any signal: each has variables of its own.
func (o Options) routeOf(sig signal) (route, error) {
	if o.Mode == ModeOff {
		return route{plan: plan{exporter: exporterNone}}, nil
	}
	p, err := decide(o.Env, sig)
	if disabled(o.Env) {
		if o.Mode == ModeOn || o.File != "" {
			err = fmt.Errorf("OTEL_SDK_DISABLED=%s turns it off", o.Env["OTEL_SDK_DISABLED"])
		}
		return route{plan: p}, err
	}
	r := route{plan: p, file: o.filesFor(p)}
	if r.file != "" && r.file != o.File {
		r.plan.exporter = exporterNone // it stands in
	}
	if err == nil && o.Mode == ModeOn && p.exporter == exporterNone && !p.named && r.file == "" {
		r.plan, err = decideOTLP(o.Env, sig)
	}
	return r, err
}

func (r route) on() bool { return r.plan.exporter != exporterNone || r.file != "" }

// String says where it goes.
func (r route) String() string {
	switch {
	case r.file == "":
		return r.plan.String()
	case r.plan.exporter == exporterNone:
		return "file " + r.file
	}
	return r.plan.String() + " and file " + r.file
}
