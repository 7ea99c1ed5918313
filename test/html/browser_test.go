//go:build html && linux

package html

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// patience is how long a browser may take for all that a test asks of it: past it, it
// hangs.
const patience = 3 * time.Minute

// browser is a headless Chromium with one page, steered by its DevTools protocol over a
// pair of pipes. It belongs to one goroutine.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int
	events  []message // not looked at yet
}

// message is a command, an answer or an event of the protocol.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// object is what JSON calls so.
type object map[string]any

// openBrowser starts one that ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install Debian's package chromium", err)
	}
	commands, to := pipe(t)
	from, answers := pipe(t)
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.ExtraFiles = []*os.File{commands, answers} // its descriptors 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	commands.Close()
	answers.Close()
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	timer := time.AfterFunc(patience, end)
	t.Cleanup(func() {
		timer.Stop()
		end()
		_ = cmd.Wait()
	})
	// What it says on stderr is about services that a server does not have.
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	b.attach()
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// attach opens the page that later commands are about.
func (b *browser) attach() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.do("Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.do("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.do(domain+".enable", object{}, nil)
	}
}

// do sends a command and waits for its answer.
func (b *browser) do(method string, params object, result any) {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(object{"id": b.last, "sessionId": b.session, "method": method, "params": params})
	if b.session == "" {
		text, err = json.Marshal(object{"id": b.last, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("cannot ask for %s: %v", method, err)
	}
	for {
		m := b.read()
		switch {
		case m.ID == b.last && m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error)
		case m.ID == b.last && result == nil:
			return
		case m.ID == b.last:
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
			return
		}
		b.events = append(b.events, m)
	}
}

func (b *browser) read() message {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser has gone: %v", err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// visit opens a page, waits until all of it is loaded, and returns the events on the way.
func (b *browser) visit(url string) []message {
	b.t.Helper()
	b.events = nil
	var answer struct{ ErrorText string }
	b.do("Page.navigate", object{"url": url}, &answer)
	if answer.ErrorText != "" {
		b.t.Fatalf("cannot open %s: %s", url, answer.ErrorText)
	}
	for _, m := range b.events {
		if m.Method == "Page.loadEventFired" {
			return b.events
		}
	}
	for {
		m := b.read()
		b.events = append(b.events, m)
		if m.Method == "Page.loadEventFired" {
			return b.events
		}
	}
}

// ask evaluates an expression in the page.
func (b *browser) ask(expression string, result any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.do("Runtime.evaluate", object{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}
