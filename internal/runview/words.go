package runview

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lenslaunch/internal/wording"
)

// ranksWord is "rank 3" or "ranks 0-2,5". A list with many gaps is cut short.
func ranksWord(list []int) string {
	const most = 60
	text := clip(wording.Spans(list), most)
	if len(list) == 1 {
		return "rank " + text
	}
	return "ranks " + text
}

// count is "1 rank" or "5 ranks".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") {
		thing += "e"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// lasted writes a time for people: three digits at the most, two units.
func lasted(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	const day = 24 * time.Hour
	return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
}

// moment writes a time in UTC, and says so: a report is read far from the machine that
// it is about.
func moment(t time.Time) string {
	if t.IsZero() {
		return "not known"
	}
	return stamp(t) + " UTC"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// size writes a number of bytes for people: 1.5 GiB.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(n), 0
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 || value >= 100 {
		return strconv.FormatFloat(value, 'f', 0, 64) + " " + units[unit]
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[unit]
}
