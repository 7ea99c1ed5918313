package cli

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/detect"
	"lenslaunch/launcher"
	"lenslaunch/semconv"
)

func detectFlags() []flagSpec {
	return []flagSpec{
		{name: "format", arg: "json|env|table", initial: "table", cat: catMessages, help: "a JSON object, a carrier's text, or a table"},
		{name: "only", arg: "local|slurm|kubernetes|gpu", cat: catMessages, help: "one source (default: local, Slurm and Kubernetes)"},
	}
}

// detect is `lenslaunch detect`: what detection finds of this process.
func (c *call) detect() (int, error) {
	s, err := c.settings(detectFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	if len(c.inv.words) > 0 {
		return launcher.ExitUsage, misuse("leave it out", "detect does not take %q", c.inv.words[0])
	}
	format, err := s.get("format").choice("json", "env", "table")
	if err != nil {
		return launcher.ExitUsage, err
	}
	list, err := c.detected(s.get("only"))
	if err != nil {
		return launcher.ExitUsage, err
	}
	switch format {
	case "json":
		return c.print(jsonObject(list) + "\n")
	case "env":
		text, warnings := carrier.Format(list)
		c.warn(warnings)
		return c.print(text + "\n")
	}
	var b strings.Builder
	for _, kv := range list {
		text, _ := carrier.Text(kv.Value)
		fmt.Fprintf(&b, "%-28s %s\n", kv.Key, oneLine(text))
	}
	if len(list) == 0 {
		b.WriteString("nothing was detected\n")
	}
	return c.print(b.String())
}

// detected runs the detectors that were asked for, in merge order.
func (c *call) detected(only setting) ([]attribute.KeyValue, error) {
	host := detect.SystemHost()
	sources := []struct {
		name string
		find func() []attribute.KeyValue
	}{
		{"local", func() []attribute.KeyValue { return detect.Local(c.env, host) }},
		{"slurm", func() []attribute.KeyValue { return detect.Slurm(c.env) }},
		{"kubernetes", func() []attribute.KeyValue { return detect.Kubernetes(c.env, host) }},
		{"gpu", func() []attribute.KeyValue { return detect.GPUs(context.Background(), host).Rank(c.env, 0) }},
	}
	if only.given {
		if _, err := only.choice("local", "slurm", "kubernetes", "gpu"); err != nil {
			return nil, err
		}
	}
	var list []attribute.KeyValue
	for _, source := range sources {
		// GPU attributes describe one rank, here the first: they are shown on demand.
		if only.text == source.name || !only.given && source.name != "gpu" {
			list = semconv.Compose(nil, list, source.find())
		}
	}
	return list, nil
}
