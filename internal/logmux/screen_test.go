package logmux

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// vt is as much of a terminal as screen needs: it shows what a person would see.
type vt struct {
	t       testing.TB
	columns int
	lines   [][]rune
	col     int
}

func newVT(t testing.TB, columns int) *vt { return &vt{t: t, columns: columns, lines: [][]rune{nil}} }

func (v *vt) write(p []byte) {
	for len(p) > 0 {
		last := &v.lines[len(v.lines)-1]
		if n, _ := escape(p); n > 0 {
			switch seq := string(p[:n]); {
			case seq == "\x1b[K":
				*last = (*last)[:min(v.col, len(*last))]
			case seq[n-1] != 'm':
				v.t.Fatalf("the terminal was sent %q", seq)
			}
			p = p[n:]
			continue
		}
		r, n := utf8.DecodeRune(p)
		switch r {
		case '\r':
			v.col = 0
		case '\n': // the terminal's driver adds the \r
			v.lines, v.col = append(v.lines, nil), 0
		default:
			if v.col == v.columns {
				v.lines, v.col = append(v.lines, nil), 0
				last = &v.lines[len(v.lines)-1]
			}
			*last = append((*last)[:v.col], append([]rune{r}, (*last)[min(v.col+1, len(*last)):]...)...)
			v.col++
		}
		p = p[n:]
	}
}

// seen is the text on the terminal, without empty lines at its end.
func (v *vt) seen() string {
	var lines []string
	for _, l := range v.lines {
		lines = append(lines, strings.TrimRight(string(l), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// stage is a screen with a terminal behind it.
type stage struct {
	screen
	vt  *vt
	now time.Time
}

func newStage(t testing.TB, columns int) *stage {
	s := &stage{vt: newVT(t, columns), now: start}
	s.width = func() int { return columns }
	return s
}

func (s *stage) text(who, text string) { s.batch(who, batch{text: []byte(text)}) }

func (s *stage) bar(who, text string) { s.batch(who, batch{bar: []byte(text), barred: true}) }

func (s *stage) batch(who string, b batch) {
	s.vt.write(s.add(nil, s.now, who, "["+who+"] ", "["+who+"]+ ", &b))
}

// wait lets time go by, and timers fire.
func (s *stage) wait(d time.Duration) {
	end := s.now.Add(d)
	for due := s.due(); !due.IsZero() && !due.After(end); due = s.due() {
		if s.now.Before(due) {
			s.now = due
		}
		s.vt.write(s.tick(nil, s.now))
	}
	s.now = end
}

func (s *stage) see(want string) {
	s.vt.t.Helper()
	if diff := cmp.Diff(want, s.vt.seen()); diff != "" {
		s.vt.t.Fatalf("on the screen (-want +got):\n%s", diff)
	}
}

func TestUnfinishedLineOnTheScreen(t *testing.T) {
	s := newStage(t, 80)
	s.batch("0", batch{text: []byte("[0] Continue?"), open: true})
	s.batch("0", batch{text: []byte(" yes"), joined: true, open: true})
	s.see("[0] Continue? yes")
	s.text("1", "[1] a line\n")
	s.batch("0", batch{text: []byte("!\n[0] next\n"), joined: true})
	s.see("[0] Continue? yes\n[1] a line\n[0]+ !\n[0] next")
	// The launcher itself writes while a line is unfinished.
	s.batch("1", batch{text: []byte("[1] half"), open: true})
	s.vt.write(s.add(nil, s.now, foreign{}, "", "", &batch{text: []byte("lenslaunch: a message\n")}))
	s.batch("1", batch{text: []byte(" and half\n"), joined: true})
	s.see("[0] Continue? yes\n[1] a line\n[0]+ !\n[0] next\n[1] half\nlenslaunch: a message\n[1]+  and half")
}

func TestBarOnTheScreen(t *testing.T) {
	s := newStage(t, 80)
	s.bar("3", "10%")
	s.see("[3] 10%")
	s.bar("3", "11%")
	s.see("[3] 10%") // too soon
	s.wait(drawEvery)
	s.see("[3] 11%")
	s.text("1", "[1] a line\n")
	s.see("[1] a line\n[3] 11%")
	s.bar("3", "9")
	s.wait(time.Second)
	s.see("[1] a line\n[3] 9")
	s.batch("3", batch{text: []byte("[3] done\n"), barred: true})
	s.see("[1] a line\n[3] done")
	s.wait(time.Hour)
	s.see("[1] a line\n[3] done")
}

// A bar never wraps, however narrow the terminal.
func TestBarOnANarrowScreen(t *testing.T) {
	for columns, want := range map[int]string{12: "[3] 日日日", 11: "[3] 日日日", 5: "[3]", 2: "[", 1: ""} {
		s := newStage(t, columns)
		for range 3 {
			s.bar("3", "日日日日日日")
			s.wait(drawEvery)
			s.bar("3", "日日日日日日日")
			s.wait(drawEvery)
		}
		if len(s.vt.lines) != 1 {
			t.Errorf("%d columns: %d lines", columns, len(s.vt.lines))
		}
		s.see(want)
	}
	s := newStage(t, 80)
	s.width = func() int { return 0 }
	s.bar("3", strings.Repeat("x", 200))
	s.see("[3] " + strings.Repeat("x", 75))
}

// Of several bars each gets the line in turn, calmly, and shows its latest state.
func TestBarsTakeTurns(t *testing.T) {
	s := newStage(t, 80)
	seen := map[string]int{}
	changes, before := 0, ""
	for i := range 300 {
		for _, who := range []string{"0", "1", "2"} {
			s.bar(who, fmt.Sprint(i, "%"))
		}
		s.wait(100 * time.Millisecond)
		now := s.vt.seen()[:3]
		seen[now]++
		if now != before {
			changes, before = changes+1, now
		}
	}
	for _, who := range []string{"[0]", "[1]", "[2]"} {
		if seen[who] < 80 {
			t.Errorf("%s was there for %d of 300 looks: %v", who, seen[who], seen)
		}
	}
	if changes > 16 {
		t.Errorf("the line changed hands %d times in 30 s", changes)
	}
	if len(s.vt.lines) != 1 {
		t.Errorf("the screen has %d lines", len(s.vt.lines))
	}
}

// A bar that waits for its turn comes, also if nothing else happens.
func TestWaitingBarComes(t *testing.T) {
	s := newStage(t, 80)
	s.bar("0", "a")
	s.bar("1", "b")
	s.wait(turnEvery)
	s.see("[1] b")
	s.bar("1", "")
	s.wait(drawEvery)
	s.see("[0] a")
	s.bar("0", "")
	s.wait(drawEvery)
	s.see("")
	s.bar("0", "")
	if !s.due().IsZero() {
		t.Error("something is due on an empty screen")
	}
}

// A bar takes an unfinished line's place only if it is the same line.
func TestBarAndUnfinishedLine(t *testing.T) {
	s := newStage(t, 80)
	s.batch("0", batch{text: []byte("[0] Load"), open: true})
	s.batch("0", batch{replace: true, bar: []byte("1%"), barred: true})
	s.wait(drawEvery)
	s.see("[0] 1%")
	s.batch("0", batch{text: []byte("[0] done\n"), barred: true})
	s.batch("0", batch{text: []byte("[0] Load"), open: true})
	s.bar("1", "1%")
	s.wait(drawEvery)
	s.see("[0] done\n[0] Load\n[1] 1%")
	s.batch("0", batch{text: []byte("ed\n"), joined: true})
	s.see("[0] done\n[0] Load\n[0]+ ed\n[1] 1%")
	s.batch("0", batch{text: []byte("[0] Again"), open: true})
	s.batch("0", batch{text: []byte("[0] gone\n"), replace: true})
	s.see("[0] done\n[0] Load\n[0]+ ed\n[0] gone\n[1] 1%")
}

// Whatever lanes do, every whole line is on the screen once, at a line's start, and
// nothing of a bar stays behind.
func TestNothingIsLostOnTheScreen(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newStage(t, 1000)
		lanes := make([]*lane, 3)
		for i := range lanes {
			lanes[i] = &lane{policy: policy{live: true, inPlace: true}, prefix: fmt.Sprintf("[%d] ", i), more: fmt.Sprintf("[%d]+ ", i)}
		}
		show := func(i int) {
			s.vt.write(s.add(nil, s.now, lanes[i], lanes[i].prefix, lanes[i].more, &lanes[i].batch))
			lanes[i].clear()
		}
		wrote := make([]string, 3)
		for n := range 60 {
			i := random.IntN(3)
			line := wrote[i][strings.LastIndexByte(wrote[i], '\n')+1:]
			text := []string{"word", "\n", fmt.Sprintf("line %d\n", n), "\rbar", "bar\r", "\r\n"}[random.IntN(6)]
			if strings.Contains(text, "bar") && line != "" && !strings.Contains(line, "\r") {
				// A bar begins at a line's start here: what it replaces is not kept.
				text = "\n"
			}
			wrote[i] += text
			lanes[i].take(s.now, []byte(text))
			show(i)
			s.wait(time.Duration(random.IntN(150)) * time.Millisecond)
			if random.IntN(2) == 0 {
				lanes[i].quiet(s.now)
				show(i)
			}
		}
		for i := range lanes {
			lanes[i].end()
			show(i)
		}
		s.wait(time.Hour)
		for i := range lanes {
			if diff := cmp.Diff(settled(wrote[i]), rejoined(s.vt.seen(), i)); diff != "" {
				t.Fatalf("seed %d, rank %d (-want +got):\n%s\nscreen:\n%s", seed, i, diff, s.vt.seen())
			}
		}
	}
}

// settled is what remains of a text when all of it has been shown: of each line the
// last state.
func settled(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		states := strings.FieldsFunc(line, func(r rune) bool { return r == '\r' || r == '\n' })
		if len(states) > 0 {
			b.WriteString(states[len(states)-1])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// rejoined is the text of one rank on a screen.
func rejoined(screen string, rank int) string {
	var b strings.Builder
	prefix, more := fmt.Sprintf("[%d]", rank), fmt.Sprintf("[%d]+", rank)
	open := false
	for line := range strings.SplitSeq(screen, "\n") {
		rest, goesOn := strings.CutPrefix(line, more)
		if !goesOn {
			var own bool
			if rest, own = strings.CutPrefix(line, prefix); !own {
				continue
			}
		}
		if open && !goesOn {
			b.WriteByte('\n')
		}
		// The terminal does not keep blanks at a line's end.
		b.WriteString(strings.TrimPrefix(rest, " "))
		open = true
	}
	if open {
		b.WriteByte('\n')
	}
	return b.String()
}
