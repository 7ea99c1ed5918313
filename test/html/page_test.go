//go:build html && linux

package html

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lenslaunch/test/harness"
)

// view is a way of looking at a page.
type view struct {
	name          string
	width, height int
	scale         float64
	phone         bool
	media         object // features, as `prefers-color-scheme: dark`
}

func views() []view {
	dark := object{"name": "prefers-color-scheme", "value": "dark"}
	light := object{"name": "prefers-color-scheme", "value": "light"}
	return []view{
		{"desktop-light", 1280, 900, 1, false, light},
		{"desktop-dark", 1280, 900, 1, false, dark},
		{"phone-light", 390, 844, 2, true, light},
		{"phone-dark", 390, 844, 2, true, dark},
		{"small-phone", 320, 568, 2, true, light},
		{"tablet", 768, 1024, 1, true, light},
	}
}

// pageOf has the launcher write the page of a run directory.
func pageOf(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.html")
	if out, err := exec.Command(harness.Binary(), "report", dir, "--html", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func (b *browser) look(v view) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", object{"width": v.width, "height": v.height, "deviceScaleFactor": v.scale, "mobile": v.phone}, nil)
	b.do("Emulation.setEmulatedMedia", object{"features": []object{v.media}}, nil)
}

// shot takes a screenshot, as PNG.
func (b *browser) shot(params object) []byte {
	b.t.Helper()
	var answer struct{ Data string }
	b.do("Page.captureScreenshot", params, &answer)
	png, err := base64.StdEncoding.DecodeString(answer.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// picture takes a screenshot of the whole page, and keeps it where SHOTS says.
func (b *browser) picture(name string) {
	b.t.Helper()
	var size struct{ W, H float64 }
	b.ask(`({W: document.documentElement.clientWidth, H: document.documentElement.scrollHeight})`, &size)
	png := b.shot(object{"captureBeyondViewport": true, "clip": object{"x": 0, "y": 0, "width": size.W, "height": size.H, "scale": 1}})
	dir := os.Getenv("SHOTS")
	if dir == "" {
		dir = b.t.ArtifactDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// The page says what happened, on every screen, and nothing of it lies beside the screen.
func TestPage(t *testing.T) {
	url := "file://" + pageOf(t, ranDirectory(t))
	b := openBrowser(t)
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			b.t = t
			b.look(v)
			quiet(t, url, b.visit(url))
			told(t, b)
			var wide []string
			b.ask(beside, &wide)
			if len(wide) > 0 {
				t.Errorf("beside the screen: %q", wide)
			}
			b.picture(v.name)
		})
	}
}

// beside lists the elements that reach beyond the screen. What scrolls within itself may.
const beside = `(() => {
	const width = document.documentElement.clientWidth
	const out = [...document.body.querySelectorAll('*')].filter(e => {
		const box = e.getBoundingClientRect()
		return box.width > 0 && !e.closest('pre') && !e.closest('.track') && (box.right > width + 0.5 || box.left < -0.5)
	}).map(e => e.outerHTML.slice(0, 100))
	if (document.documentElement.scrollWidth > width) out.push('the page scrolls to the side')
	return out
})()`

// quiet refuses everything that a page which is complete does not do: requests, messages,
// errors.
func quiet(t *testing.T, url string, events []message) {
	t.Helper()
	for _, m := range events {
		switch m.Method {
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			if p.Request.URL != url && p.Request.URL != "data:," {
				t.Errorf("the page asks for %s", p.Request.URL)
			}
		case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
			t.Errorf("%s: %s", m.Method, m.Params)
		}
	}
}

// told finds in the page what a reader comes for, where they look for it.
func told(t *testing.T, b *browser) {
	t.Helper()
	var got struct {
		Title, Verdict, Cause, Error, Facts, All string
		Rows, Scripts, Images                    int
	}
	b.ask(`(() => {
		const text = s => document.querySelector(s)?.innerText ?? ''
		return {
			Title: document.title, Verdict: text('.verdict'), Cause: text('#cause'), Error: text('.cause pre'), Facts: text('.facts'),
			All: document.body.textContent, Rows: document.querySelectorAll('details[open] .lines tbody tr').length,
			Scripts: document.scripts.length, Images: document.images.length,
		}
	})()`, &got)
	for what, want := range map[string][2]string{
		"title": {got.Title, "llama-7b-warmup: failed, exit code 3"}, "verdict": {got.Verdict, "failed, exit code 3"},
		"cause": {got.Cause, "rank 3 failed: exit code 3"}, "error": {got.Error, "RuntimeError: loss is NaN at step 1200 of rank 3"},
		"facts": {got.Facts, "python and 3 arguments"},
	} {
		if !strings.Contains(want[0], want[1]) {
			t.Errorf("the %s is %q, without %q", what, want[0], want[1])
		}
	}
	for _, want := range []string{"rank 2 failed at the same time; rank 6 failed after it; ranks 1,4-5,7 stopped", "attempt-0", "SIGSEGV", "<script>document.title='taken over'</script>"} {
		if !strings.Contains(got.All, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(got.All, "hidden") {
		t.Error("a variable that is not the launcher's is in the page")
	}
	if got.Rows != ranks || got.Scripts > 0 || got.Images > 0 {
		t.Errorf("%d rows in sight, %d scripts, %d images", got.Rows, got.Scripts, got.Images)
	}
}

// Large text is how many people read: nothing gets lost.
func TestPageWithLargeText(t *testing.T) {
	url := "file://" + pageOf(t, ranDirectory(t))
	b := openBrowser(t)
	v := views()[2]
	b.look(v)
	b.visit(url)
	var none bool
	b.ask(`(document.documentElement.style.fontSize = '200%', true)`, &none)
	var wide []string
	b.ask(beside, &wide)
	if len(wide) > 0 {
		t.Errorf("beside the screen: %q", wide)
	}
	b.picture(v.name + "-large-text")
}
