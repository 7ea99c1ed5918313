package runview

// page is what the template shows. All texts are clean; the template escapes them.
type page struct {
	Name, Verdict, Class, Symbol string
	Facts                        []pageFact
	Cause                        *pageCause
	Total                        string // length of the time axis
	Bars                         []pageBar
	Before                       int // attempts that are not shown
	Legend                       []pageLegend
	Details                      []pageDetail
	Why, Remarks                 []string
	Made, Version                string
}

type pageFact struct{ Name, Value string }

type pageCause struct{ Occasion, Headline, Where, Title, Text, Missing, Doing, Effects, Next, File, Attempt string }

type pageLegend struct{ Class, Symbol, Words string }

// pageBar is a bar on a time axis, in percent of its length, with what it means.
type pageBar struct {
	Label, ID           string // ID: of the details, empty: none
	Class, Symbol, Word string
	Left, Width         float64
	Text, Note          string
	Short               string // its length in time
}

// pageDetail is an attempt, rank by rank.
type pageDetail struct {
	ID, Label, Summary string
	Symbol, Class      string
	Open               bool
	Facts              []pageFact
	Total              string
	Failure            float64 // where the first failure was, in percent; negative: nowhere
	Rows               []pageBar
	Left               int // ranks without a row
	Trimmed            bool
	Error              *pageCause
	Doing              []pageFact // what ranks had open when they went
	Entries            []pageEntry
	Settings           []pageFact
	Warnings           []string
}

type pageEntry struct{ Since, Symbol, Class, Text string }
