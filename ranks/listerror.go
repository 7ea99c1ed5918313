package ranks

import "fmt"

// MaxHosts bounds what a host list or a tasks-per-node list may expand to. It is
// Slurm's own limit for one range; here it holds for the whole list, nested
// products included, because eleven bytes of text can name a billion hosts.
const MaxHosts = 65536

// A ListError says where a host list or a tasks-per-node list stops making sense.
type ListError struct {
	Kind    string // "host list" or "tasks per node"
	Text    string // the whole text
	Offset  int    // byte position in Text; len(Text) if something is missing at the end
	Problem string
}

// Error is one line: what was read, where it went wrong and how.
func (e *ListError) Error() string {
	place := "at its end"
	if e.Offset < len(e.Text) {
		place = fmt.Sprintf("at byte %d (%q)", e.Offset, clip(e.Text[e.Offset:], 16))
	}
	return fmt.Sprintf("cannot read %s %q %s: %s", e.Kind, clip(e.Text, 64), place, e.Problem)
}

// clip keeps a message one readable line when the text is a page long.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "..."
}
