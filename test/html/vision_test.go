//go:build html && linux

package html

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// alike is what hardly anybody would tell apart at a glance: a part of the area.
const alike = 0.15

// Whoever sees no colours, or not all of them, tells the fates of ranks apart by their
// patterns, in light and in dark, and by signs and words, which TestPage finds.
func TestFatesWithoutColours(t *testing.T) {
	url := "file://" + pageOf(t, ranDirectory(t))
	b := openBrowser(t)
	for _, kind := range []string{"achromatopsia", "deuteranopia", "protanopia", "tritanopia"} {
		for _, v := range views()[:2] {
			t.Run(kind+" "+v.name, func(t *testing.T) {
				b.t = t
				b.do("Emulation.setEmulatedVisionDeficiency", object{"type": kind}, nil)
				b.look(v)
				b.visit(url)
				b.picture(kind + "-" + v.name)
				fates := b.swatches()
				if len(fates) != 8 {
					t.Fatalf("%d fates", len(fates))
				}
				for i, one := range fates {
					for _, other := range fates[:i] {
						if part := difference(one.pattern, other.pattern); part < alike {
							t.Errorf("%q and %q differ in %.0f %% of their patterns", one.words, other.words, 100*part)
						}
					}
				}
			})
		}
	}
}

// swatch is how a fate is drawn.
type swatch struct {
	words   string
	pattern []bool // of its pixels: dark or light, of whatever colour
}

// swatches are those of the legend, large, each alone in the corner of the screen: no
// pattern begins between two pixels there.
func (b *browser) swatches() []swatch {
	b.t.Helper()
	var words []string
	b.ask(`[...document.querySelectorAll('.legend li')].map(e => e.innerText)`, &words)
	var list []swatch
	for i := range words {
		var n int
		b.ask(fmt.Sprintf(`(() => {
			const all = document.querySelectorAll('.legend .swatch')
			all.forEach((e, i) => {
				e.style.cssText = 'position: fixed; left: 0; top: 0; width: 36px; height: 16px; background: var(--card);' + (i == %d ? '' : 'display: none')
			})
			return all.length
		})()`, i), &n)
		if n != len(words) {
			b.t.Fatalf("%d patterns for %d fates", n, len(words))
		}
		data := b.shot(object{"clip": object{"x": 0, "y": 0, "width": 36, "height": 16, "scale": 4}})
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			b.t.Fatal(err)
		}
		list = append(list, swatch{words[i], pattern(picture)})
	}
	return list
}

// pattern is a picture in two tones: those above the middle of its own, and the others.
// One of a single tone is all above.
func pattern(p image.Image) []bool {
	box := p.Bounds()
	var tones []uint8
	low, high := uint8(255), uint8(0)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			tone := color.GrayModel.Convert(p.At(x, y)).(color.Gray).Y
			tones, low, high = append(tones, tone), min(low, tone), max(high, tone)
		}
	}
	middle := (int(low) + int(high)) / 2
	out := make([]bool, len(tones))
	for i, tone := range tones {
		out[i] = int(tone) >= middle
	}
	return out
}

// difference is the part of the points in which two patterns differ.
func difference(a, b []bool) float64 {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}
