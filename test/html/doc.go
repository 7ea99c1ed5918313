// Package html looks at the page of `lenslaunch report --html` as a person does: in a real
// browser (headless Chromium), at a desk and on a phone, in light and dark, with every common
// kind of colour blindness. The run that it shows was one: real processes, whose ends were
// recorded as the launcher records them.
//
// It needs Chromium and the build tag html: make test-html. With SHOTS=DIR the
// screenshots stay there.
//
// Source: issue 4, "Checked in headless Chromium with a screenshot".
package html
