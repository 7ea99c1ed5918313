package runview

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/rundir"
)

func pageOf(t *testing.T, r *Run, now time.Time) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePage(&b, r, now, "lenslaunch 0.1.0"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is a start tag of a page.
type element struct {
	name  string
	attrs map[string]string
}

// elements parses a page and lists its tags, and all its text outside of <style>.
func elements(t *testing.T, page string) (list []element, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var words strings.Builder
	style := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list, words.String()
		}
		if err != nil {
			t.Fatalf("the page cannot be parsed: %v", err)
		}
		switch tag := token.(type) {
		case xml.StartElement:
			e := element{tag.Name.Local, map[string]string{}}
			for _, a := range tag.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			list, style = append(list, e), e.name == "style"
		case xml.EndElement:
			style = false
		case xml.CharData:
			if !style {
				words.Write(tag)
			}
		}
	}
}

func TestPageTellsTheRun(t *testing.T) {
	page := pageOf(t, failedRun(), began().Add(time.Hour))
	_, text := elements(t, page)
	for _, want := range []string{
		"run-7", "failed, exit code 3", "rank 3 failed: exit code 3", "local rank 3 on gpu-01, pid 4103, attempt 1, after 44.0s",
		"RuntimeError: loss is NaN", "ValueError: bad batch", "rank 2 failed at the same time; rank 5 failed after it; ranks 1,4,6-7 stopped",
		"no restart: 1 of 1 restarts used", "restart 1 of 1 in 800ms", "runs/run-7/attempt-1/rank-3.err", "python3 and 4 arguments",
		"8 on 1 node (gpu-01), role trainer", "WORLD_SIZE", "RANK (rank 3)", "127.0.0.1:29401", "OMP_NUM_THREADS=4: 32 usable CPUs for 8 ranks",
		"stopping 5 ranks: SIGTERM, after 15s SIGKILL", "pid 4105 on gpu-01", "Made by lenslaunch 0.1.0 at 2025-03-04 06:06:07 UTC",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// The cause's error stands at the top and not again below.
	if n := strings.Count(text, "loss is NaN"); n != 1 {
		t.Errorf("the error of the run stands there %d times", n)
	}
}

// What a bar shows is said in words, too, for those who do not see it.
func TestPageHasWordsForBars(t *testing.T) {
	list, text := elements(t, pageOf(t, failedRun(), began().Add(time.Hour)))
	for f := range Fate(fateKinds) {
		if !strings.Contains(text, f.text().words) || !strings.Contains(text, f.text().symbol) {
			t.Errorf("no words or symbol for %q", f.text().words)
		}
	}
	lang, view, headings := false, false, 0
	for _, e := range list {
		switch {
		case e.name == "html":
			lang = e.attrs["lang"] == "en"
		case e.name == "meta" && e.attrs["name"] == "viewport":
			view = true
		case e.name == "h1":
			headings++
		case e.name == "th" && e.attrs["scope"] == "":
			t.Error("a heading of a table that is nobody's")
		}
	}
	if !lang || !view || headings != 1 {
		t.Errorf("language %v, viewport %v, %d first headings", lang, view, headings)
	}
}

// A page is complete: it names nothing that a browser would fetch, and forbids it.
func TestPageLoadsNothing(t *testing.T) {
	page := pageOf(t, hostileRun(40, 3, 2), began())
	list, _ := elements(t, page)
	policy := ""
	for _, e := range list {
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "base", "form", "video", "audio", "svg", "input"}, e.name) {
			t.Errorf("a <%s>", e.name)
		}
		for name, value := range e.attrs {
			switch {
			case strings.HasPrefix(name, "on"), name == "src", name == "srcset", name == "action", name == "ping":
				t.Errorf("<%s %s=%q>", e.name, name, value)
			case name == "href" && !strings.HasPrefix(value, "#") && value != "data:,":
				t.Errorf("<%s %s=%q>", e.name, name, value)
			}
		}
		if e.attrs["http-equiv"] == "Content-Security-Policy" {
			policy = e.attrs["content"]
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "script-src") {
		t.Errorf("policy %q", policy)
	}
	style, _, _ := strings.Cut(page[strings.Index(page, "<style>"):], "</style>")
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet fetches something")
	}
}

// Whatever texts a run has, the page has the elements and attributes of the template and
// no others.
func TestPageEscapes(t *testing.T) {
	plain, _ := elements(t, pageOf(t, failedRun(), began()))
	allowed := map[string]bool{}
	remarked := liveRun()
	remarked.Problem = "something"
	for _, e := range append(plain, mustElements(t, remarked)...) {
		allowed[e.name] = true
		for name := range e.attrs {
			allowed[e.name+" "+name] = true
		}
	}
	page := pageOf(t, hostileRun(40, 3, 2), began())
	list, text := elements(t, page)
	for _, e := range list {
		if !allowed[e.name] {
			t.Errorf("a <%s>", e.name)
		}
		for name := range e.attrs {
			if !allowed[e.name+" "+name] {
				t.Errorf("a <%s %s>", e.name, name)
			}
		}
	}
	if !strings.Contains(text, "<script>alert(1)</script>") {
		t.Error("the error's text is not shown as text")
	}
	if clean(page) != page {
		t.Error("control characters in the page")
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
}

func mustElements(t *testing.T, r *Run) []element {
	t.Helper()
	list, _ := elements(t, pageOf(t, r, began().Add(200*time.Second)))
	return list
}

// 512 ranks that all fare differently, in many attempts, with long texts.
func TestPageIsBounded(t *testing.T) {
	page := pageOf(t, hostileRun(512, 250, 8), began())
	if len(page) > PageLimit {
		t.Errorf("%d bytes, the limit is %d", len(page), PageLimit)
	}
	_, text := elements(t, page)
	for _, want := range []string{"… and 50 earlier", "… and 464 more ranks"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A thousand ranks that fare alike are one line, not a thousand.
func TestPageOfALargeRun(t *testing.T) {
	r := liveRun()
	a := &r.Attempts[2]
	model := a.Ranks[0]
	a.Ranks = nil
	for i := range 1024 {
		model.Rank, model.Pid = i, 5000+i
		a.Ranks = append(a.Ranks, model)
	}
	page := pageOf(t, r, began().Add(200*time.Second))
	_, text := elements(t, page)
	if !strings.Contains(text, "ranks 0-1023") || !strings.Contains(text, "1024 ranks on gpu-01") || len(page) > 100<<10 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestPageOfNothing(t *testing.T) {
	page := pageOf(t, &Run{Dir: "d", Run: rundir.Run{Started: began()}}, began())
	if _, text := elements(t, page); !strings.Contains(text, "running") || strings.Contains(text, "Attempts") {
		t.Errorf("%s", text)
	}
}

// Attempts without ranks: run.json keeps those of the newest only.
func TestPageOfTrimmedAttempts(t *testing.T) {
	r := failedRun()
	r.Attempts[0].Ranks, r.Attempts[0].Trimmed, r.Dropped = nil, true, 7
	_, text := elements(t, pageOf(t, r, began().Add(time.Hour)))
	for _, want := range []string{"… and 7 earlier", "What single ranks did was not kept"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWritePageTellsOfAFullDisk(t *testing.T) {
	if err := WritePage(full{}, failedRun(), began(), "x"); err == nil {
		t.Error("no error")
	}
}

func TestAxis(t *testing.T) {
	x := axis{began(), began().Add(100 * time.Second)}
	at := func(s int) time.Time { return began().Add(time.Duration(s) * time.Second) }
	tests := []struct {
		from, to    time.Time
		left, width float64
	}{
		{at(0), at(100), 0, 100}, {at(25), at(75), 25, 50}, {at(-50), at(500), 0, 100}, {at(10), at(10), 10, thinnest},
		{at(100), at(100), 100 - thinnest, thinnest}, {at(10), time.Time{}, 0, thinnest}, {time.Time{}, at(10), 0, thinnest}, {at(50), at(20), 50, thinnest},
	}
	for _, tt := range tests {
		if b := x.bar(tt.from, tt.to); b.Left != tt.left || b.Width != tt.width {
			t.Errorf("%v to %v: %v + %v, want %v + %v", tt.from, tt.to, b.Left, b.Width, tt.left, tt.width)
		}
	}
	// An attempt that ended in the moment in which it began has an axis without length.
	if b := (axis{at(0), at(0)}).bar(at(0), at(0)); b.Left != 0 || b.Width != thinnest {
		t.Errorf("%v + %v", b.Left, b.Width)
	}
}

func TestRowsGroup(t *testing.T) {
	r := failedRun()
	a := r.Attempts[0]
	rows, left := r.rows(a, began(), 100)
	if len(rows) != 8 || left != 0 {
		t.Errorf("%d rows, %d left", len(rows), left)
	}
	// The same eight, four times each but for the first failure.
	model := a.Ranks
	for i := 8; i < 40; i++ {
		rank := model[i%8]
		rank.Rank = i
		a.Ranks = append(a.Ranks, rank)
		switch i % 8 {
		case 2, 3, 5:
			a.Failed = append(a.Failed, i)
		case 1, 4, 6, 7:
			a.Stopped = append(a.Stopped, i)
		}
	}
	rows, left = r.rows(a, began(), 100)
	var got []string
	for _, one := range rows {
		got = append(got, one.fate.text().words+" "+one.how+" "+ranksWord(one.ranks))
	}
	want := []string{
		"failed first exit code 3 rank 3", "failed at the same time exit code 3 rank 2", "failed after it SIGABRT ranks 5,13,21,29,37",
		"failed after it exit code 3 ranks 10-11,18-19,26-27,34-35", "stopped SIGTERM ranks 1,4,6-7,9,12,14-15,17,20,22-23,25,28,30-31,33,36,38-39",
		"succeeded  ranks 0,8,16,24,32",
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) || left != 0 || rows[0].fate != FailedFirst {
		t.Errorf("%q\nwant %q, %d left", got, want, left)
	}
	if rows, left = r.rows(a, began(), 2); len(rows) != 2 || left != 38 {
		t.Errorf("%d rows, %d left", len(rows), left)
	}
}
