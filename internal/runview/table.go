package runview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Look says how a table is drawn.
type Look struct {
	Columns int  // width, 0: as wide as it gets
	Lines   int  // height, 0: as long as it gets
	From    int  // first row, where not all have room
	Style   bool // bold and reversed, on a terminal
	Keys    bool // say which keys there are
}

// Table draws a snapshot as lines: a head, a row for each rank, and what is out of
// sight. No line is wider than the terminal, however wide its characters are.
func Table(s Snapshot, look Look) []string {
	lines := []string{look.bold(look.fit(s.title())), look.fit(s.subtitle())}
	if len(s.Rows) == 0 {
		return append(lines, "", look.fit("no rank has started yet"))
	}
	from, to := look.window(len(s.Rows))
	columns := s.columns(s.Rows[from:to])
	lines = append(lines, look.reversed(look.pad(look.fit(titles(columns)))))
	for i, row := range s.Rows[from:to] {
		text := look.fit(rowText(columns, i))
		if row.Fate.failure() {
			text = look.bold(text)
		}
		lines = append(lines, text)
	}
	if foot := look.foot(from, to, len(s.Rows)); foot != "" {
		lines = append(lines, look.fit(foot))
	}
	return lines
}

// Lines that are no rows: title, subtitle, titles of columns, foot.
const aroundRows = 4

// window is which of so many rows are in sight.
func (look Look) window(rows int) (from, to int) {
	if look.Lines == 0 || rows+aroundRows-1 <= look.Lines && !look.Keys {
		return 0, rows
	}
	room := max(look.Lines-aroundRows, 1)
	from = min(max(look.From, 0), max(rows-room, 0))
	return from, min(from+room, rows)
}

func (look Look) foot(from, to, rows int) string {
	var parts []string
	if to-from < rows {
		parts = append(parts, fmt.Sprintf("rows %d-%d of %d", from+1, to, rows))
	}
	if look.Keys {
		parts = append(parts, "q: leave", "up, down, page: move")
	}
	return strings.Join(parts, "   ")
}

func (s Snapshot) title() string {
	counts := [fateKinds]int{}
	for _, row := range s.Rows {
		counts[row.Fate]++
	}
	var parts []string
	for f, n := range counts {
		if n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+Fate(f).text().words)
		}
	}
	text := s.Head
	if len(parts) > 0 {
		text += "   ranks: " + strings.Join(parts, ", ")
	}
	return text
}

func (s Snapshot) subtitle() string {
	parts := []string{"lasted " + lasted(s.Since)}
	if s.Live {
		parts[0] = "up " + lasted(s.Since)
	}
	if s.Attempt != "" {
		parts = append(parts, s.Attempt, count(s.Restarts, "restart"))
	}
	for _, text := range []string{s.Launcher, s.Problem} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "   ")
}

// column is one of the table, with its cells.
type column struct {
	title string
	width int // at least: a number that grows should not move what stands behind it
	right bool
	hide  bool
	cell  func(RankRow) string
	cells []string
}

// columns are those that have something to say about these rows.
func (s Snapshot) columns(rows []RankRow) []column {
	list := []column{
		{title: "RANK", right: true, cell: func(r RankRow) string { return strconv.Itoa(r.Rank) }},
		{title: "PID", right: true, width: 7, cell: func(r RankRow) string { return known(r.Pid > 0, strconv.Itoa(r.Pid)) }},
		{title: "HOST", hide: !s.Hosts, cell: func(r RankRow) string { return r.Host }},
		{title: "STATE", width: 9, cell: func(r RankRow) string { return r.State }},
		{title: "UP", right: true, width: 6, cell: func(r RankRow) string { return known(r.Up > 0, lasted(r.Up)) }},
		{title: "CPU%", right: true, width: 5, cell: func(r RankRow) string { return known(r.CPU >= 0, strconv.FormatFloat(r.CPU, 'f', 0, 64)) }},
		{title: "MEMORY", right: true, width: 8, cell: func(r RankRow) string { return known(r.Memory >= 0, size(r.Memory)) }},
		{title: "GPU MEM", right: true, width: 8, hide: !s.GPUs, cell: func(r RankRow) string { return known(r.GPU >= 0, size(r.GPU)) }},
		{title: "LAST LINE", cell: func(r RankRow) string { return s.Last(r.Rank) }},
	}
	list = slices.DeleteFunc(list, func(c column) bool { return c.hide })
	for i := range list {
		c := &list[i]
		c.width = max(c.width, cells(c.title))
		for _, row := range rows {
			text := c.cell(row)
			c.cells, c.width = append(c.cells, text), max(c.width, cells(text))
		}
	}
	return list
}

func known(is bool, text string) string {
	if is {
		return text
	}
	return "-"
}

func titles(columns []column) string {
	return join(columns, func(c column) string { return c.title })
}

func rowText(columns []column, i int) string {
	return join(columns, func(c column) string { return c.cells[i] })
}

// join puts the cells of a line behind each other; the last has no blanks behind it.
func join(columns []column, cell func(column) string) string {
	var b strings.Builder
	for _, c := range columns {
		text := cell(c)
		blanks := strings.Repeat(" ", max(c.width-cells(text), 0))
		if c.right {
			text = blanks + text
		} else {
			text += blanks
		}
		b.WriteString(text + "  ")
	}
	return strings.TrimRight(b.String(), " ")
}

// fit cuts a text to the terminal.
func (look Look) fit(text string) string {
	if look.Columns <= 0 || cells(text) <= look.Columns {
		return text
	}
	room := look.Columns - 1
	for i, r := range text {
		if room -= runeCells(r); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

func (look Look) pad(text string) string {
	if !look.Style {
		return text
	}
	return text + strings.Repeat(" ", max(look.Columns-cells(text), 0))
}

func (look Look) bold(text string) string     { return look.styled("1", text) }
func (look Look) reversed(text string) string { return look.styled("7", text) }

func (look Look) styled(code, text string) string {
	if !look.Style {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
