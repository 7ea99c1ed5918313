package runview

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var (
	rootRule   = regexp.MustCompile(`(?s):root \{(.*?)\}`)
	colourRule = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6});`)
)

// luminance is that of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(part uint64) float64 {
		c := float64(part&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

// Every colour of a text can be read on every ground, in light and in dark: 4.5 to 1 is
// what WCAG 2 asks of small text.
func TestPageContrast(t *testing.T) {
	roots := rootRule.FindAllStringSubmatch(pageText, 2)
	if len(roots) != 2 {
		t.Fatalf("%d sets of colours", len(roots))
	}
	for i, name := range []string{"light", "dark"} {
		colours := map[string]float64{}
		for _, m := range colourRule.FindAllStringSubmatch(roots[i][1], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		texts := []string{"ink", "soft", "link"}
		for f := range Fate(fateKinds) {
			texts = append(texts, f.text().class)
		}
		for _, text := range texts {
			for _, ground := range []string{"paper", "card"} {
				a, okText := colours[text]
				b, okGround := colours[ground]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !okText || !okGround || ratio < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, ratio)
				}
			}
		}
	}
}
