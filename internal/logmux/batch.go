package logmux

// policy is what the console makes of unfinished lines and of `\r`.
type policy struct {
	live    bool // a terminal: unfinished lines are shown
	inPlace bool // progress bars are refreshed in place
	keepCR  bool // all states of a progress bar are shown, each as a piece of its line
}

// batch is what a lane wants on the console next.
type batch struct {
	text    []byte
	lines   int    // line ends in text
	joined  bool   // text goes on where the terminal shows an unfinished line
	replace bool   // text takes the place of that unfinished line
	open    bool   // text ends in the middle of a line
	bar     []byte // the progress bar to refresh in place; empty: it has ended
	barred  bool   // bar is meant
}

// empty reports whether there is nothing to deliver.
func (b *batch) empty() bool { return len(b.text) == 0 && !b.barred }

// clear makes room for the next batch.
func (b *batch) clear() { *b = batch{text: b.text[:0], bar: b.bar[:0]} }
