//go:build terminal && linux

package terminal

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const transcript = "../../docs/terminal.txt"

const introduction = `Sessions at a terminal under an interactive bash, as make test-terminal plays them and
compares them with this file. ^C, ^Z and ^\ are keys that were pressed. Process ids are
left out; lines of several ranks come in any order and are sorted here. The programs
are in test/terminal/testdata.
`

// sessions are all that is written down, in this order.
var sessions = []struct {
	title string
	play  func(*session)
}{
	{"One rank: the terminal is its own", oneAsks},
	{"One rank: Ctrl-C reaches it, once", oneCounts},
	{"One rank: it dies of Ctrl-C, and is not restarted", oneCtrlC},
	{"One rank: it handles Ctrl-C and ends by itself", oneSaves},
	{"One rank: Ctrl-\\", oneCtrlBackslash},
	{"One rank: Ctrl-Z, fg, and bg of a program that reads the terminal", oneIsStopped},
	{"One rank: Ctrl-Z, bg, jobs, kill", oneGoesOnInTheBackground},
	{"One rank: kill of a stopped job", oneStoppedIsKilled},
	{"One rank: killed in raw mode, echo comes back", oneLeavesRawMode},
	{"One rank: the launcher is killed in raw mode", oneLauncherIsKilled},
	{"One rank: a script around the launcher", oneInAScript},
	{"One rank: a pipeline", oneInAPipeline},
	{"One rank: in the background from the start", oneBeginsInTheBackground},
	{"One rank: brought to the foreground", oneIsBroughtToTheForeground},
	{"One rank: reads the terminal in the background", oneReadsInTheBackground},
	{"Four ranks: Ctrl-C asks each of them once", fourCtrlC},
	{"Four ranks: Ctrl-C with --stop-signal INT", fourCtrlCAsSIGINT},
	{"Four ranks: Ctrl-Z, fg, Ctrl-Z, bg, jobs, kill", fourAreStopped},
	{"Four ranks: in the background from the start, then fg", fourBeginInTheBackground},
	{"Four ranks: in the background of a script", fourInTheBackgroundOfAScript},
	{"Four ranks: stty tostop", fourUnderTostop},
	{"Four ranks: they have no terminal", fourHaveNoTerminal},
	{"Four ranks: one of them reads the terminal", fourOneOfThemReads},
}

// TestSessions plays the sessions and compares them with the transcript.
func TestSessions(t *testing.T) {
	var text strings.Builder
	text.WriteString(introduction)
	for _, one := range sessions {
		played := t.Run(one.title, func(t *testing.T) {
			s := sit(t)
			one.play(s)
			s.asks()
			text.WriteString("\n== " + one.title + "\n\n" + tidy(s.String()))
		})
		if !played {
			return
		}
	}
	if strings.Count(text.String(), "\n== ") != len(sessions) {
		return // -run has chosen some of them
	}
	if *update {
		if err := os.WriteFile(transcript, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(string(want)), lines(text.String())); diff != "" {
		t.Errorf("the transcript (-docs/terminal.txt +this run):\n%s", diff)
	}
}

var (
	jobPid  = regexp.MustCompile(`(?m)^(\[\d\]) \d+$`)
	rankPid = regexp.MustCompile(`\bpid \d+`)
	user    = regexp.MustCompile(`\buid \d+`)
	uptime  = regexp.MustCompile(`, after [0-9.]+m?s\)`)
	ofRank  = regexp.MustCompile(`^\[\d\] [a-z?]`)
)

// tidy leaves out of a screen what differs from one time to the next.
func tidy(screen string) string {
	screen = jobPid.ReplaceAllString(screen, "$1 PID")
	screen = rankPid.ReplaceAllString(screen, "pid PID")
	screen = user.ReplaceAllString(screen, "uid UID")
	screen = uptime.ReplaceAllString(screen, ", after TIME)")
	lines := strings.Split(strings.TrimSuffix(screen, prompt), "\n")
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && ofRank.MatchString(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return strings.Join(lines, "\n")
}

// lines are what a transcript says, title by title. What programs in the background
// print comes before or after a prompt, so the order within a session is left to the
// session itself.
func lines(transcript string) map[string][]string {
	said := map[string][]string{}
	for part := range strings.SplitSeq(transcript, "\n== ") {
		title, text, _ := strings.Cut(part, "\n")
		text = strings.ReplaceAll(text, prompt, "\n"+prompt+"\n")
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				said[title] = append(said[title], line)
			}
		}
		slices.Sort(said[title])
		// A busy shell may tell of a stopped job once more.
		said[title] = slices.Compact(said[title])
	}
	return said
}
