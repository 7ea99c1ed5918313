package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/launcher"
)

// carrier is `lenslaunch carrier parse|format|extend|check`, for shell scripts.
func (c *call) carrier() (int, error) {
	if len(c.inv.words) == 0 {
		return launcher.ExitUsage, misuse("write carrier parse, format, extend or check", "carrier needs a verb")
	}
	verb := c.inv.words[0]
	if verb == "--help" || verb == "-h" {
		return c.help()
	}
	verbs := map[string]func(settings, string) (int, error){
		"parse": c.carrierParse, "format": c.carrierFormat, "extend": c.carrierExtend, "check": c.carrierCheck,
	}
	do, ok := verbs[verb]
	if !ok {
		return launcher.ExitUsage, misuse("write parse, format, extend or check", "carrier has no verb %q", verb)
	}
	table := carrierFlags()[verb]
	inv := invocation{}
	rest, err := inv.takeFlags(c.inv.words[1:], append(table, globalFlags()...))
	if err != nil {
		return launcher.ExitUsage, err
	}
	if inv.asked("help") {
		return c.help()
	}
	s, err := parse(inv.flags, append(table, globalFlags()...), c.env)
	if err != nil {
		return launcher.ExitUsage, err
	}
	text, err := c.carrierText(verb, rest, inv.literal)
	if err != nil {
		return launcher.ExitUsage, err
	}
	return do(s, text)
}

func carrierFlags() map[string][]flagSpec {
	return map[string][]flagSpec{
		"parse":  {{name: "format", arg: "json|lines", initial: "json", help: "a JSON object, or one KEY=VALUE per line"}},
		"format": {},
		"extend": {
			{name: "defaults", arg: "JSON", initial: "{}", help: "entries for keys that are absent"},
			{name: "overrides", arg: "JSON", initial: "{}", help: "entries that replace others"},
		},
		"check": {
			{name: "require", arg: "K,..", mayBeEmpty: true, help: "keys that must be there with a value"},
			{name: "forbid", arg: "K,..", mayBeEmpty: true, help: "keys that must not be there"},
		},
	}
}

// carrierText is the carrier to work on: the word behind `--`, else the variable.
func (c *call) carrierText(verb string, words []string, literal bool) (string, error) {
	switch {
	case len(words) == 0:
		return c.env[carrier.Variable], nil
	case !literal || verb == "format":
		return "", misuse("a carrier's text stands behind --", "carrier %s does not take %q", verb, words[0])
	case len(words) > 1:
		return "", misuse("quote it", "carrier %s takes one text, not %d", verb, len(words))
	}
	return words[0], nil
}

func (c *call) carrierParse(s settings, text string) (int, error) {
	format, err := s.get("format").choice("json", "lines")
	if err != nil {
		return launcher.ExitUsage, err
	}
	list := carrier.Parse(text)
	if format == "json" {
		return c.print(jsonObject(list) + "\n")
	}
	var b strings.Builder
	for _, kv := range list {
		fmt.Fprintf(&b, "%s=%s\n", kv.Key, oneLine(kv.Value.AsString()))
	}
	return c.print(b.String())
}

func (c *call) carrierFormat(settings, string) (int, error) {
	input, err := io.ReadAll(c.std.In)
	if err != nil {
		return launcher.ExitUsage, misuse("give a JSON object on stdin", "cannot read a carrier from stdin: %v", err)
	}
	list, err := parseJSON(input)
	if err != nil {
		return launcher.ExitUsage, misuse("give a JSON object on stdin", "cannot read a carrier from stdin: %v", err)
	}
	text, warnings := carrier.Format(list)
	c.warn(warnings)
	return c.print(text + "\n")
}

func (c *call) carrierExtend(s settings, text string) (int, error) {
	lists := map[string][]attribute.KeyValue{}
	for _, name := range []string{"defaults", "overrides"} {
		v := s.get(name)
		list, err := parseJSON([]byte(v.text))
		if err != nil {
			return launcher.ExitUsage, misuse(`write an object, as in '{"nv.dl.role":"worker"}'`, "%s %q: %v", v.from, v.text, err)
		}
		lists[name] = list
	}
	out, warnings := carrier.Extend(text, lists["defaults"], lists["overrides"])
	c.warn(warnings)
	return c.print(out + "\n")
}

func (c *call) carrierCheck(s settings, text string) (int, error) {
	keys := func(name string) []string {
		var out []string
		for _, k := range strings.Split(s.get(name).text, ",") {
			if k = strings.TrimSpace(k); k != "" {
				out = append(out, k)
			}
		}
		return out
	}
	report := carrier.Check(text, keys("require"), keys("forbid"))
	if report.OK() {
		return launcher.ExitOK, nil
	}
	fmt.Fprintln(c.std.Err, "lenslaunch: the carrier is not right:", oneLine(report.String()))
	return exitNo, nil
}

func (c *call) warn(warnings []carrier.Warning) {
	for _, w := range warnings {
		fmt.Fprintln(c.std.Err, "lenslaunch: warning:", oneLine(w.String()))
	}
}

// jsonObject writes an ordered list as a JSON object in its order.
func jsonObject(list []attribute.KeyValue) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, kv := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonText(string(kv.Key)))
		b.WriteByte(':')
		b.Write(jsonText(kv.Value.AsInterface()))
	}
	b.WriteByte('}')
	return b.String()
}

// jsonText is a value as JSON, with <, > and & as they are: this is no web page. A
// float keeps a point or an exponent, which parseJSON tells it by.
func jsonText(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		// Only NaN and infinities have no JSON; their text does.
		return jsonText(fmt.Sprint(v))
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	if _, ok := v.(float64); ok && !bytes.ContainsAny(text, ".eE") {
		text = append(text, ".0"...)
	}
	return text
}
