package evaluate

// Problem is what is wrong with an item.
type Problem struct {
	Line    int    `json:"line,omitempty"` // of the file, from 1; 0 = unknown
	Item    int    `json:"item"`           // index from 0; -1 = the file as a whole
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Problems is an error of one problem or more. At most MaxProblems are listed.
type Problems struct {
	List []Problem
	More int // further ones
}

// MaxProblems bounds Problems.List.
const MaxProblems = 20

// Error lists the first problems.
func (p *Problems) Error() string { panic("not built") }

// Check returns a *Problems if items break a limit, lack a question, share an id, or have an
// unknown kind; else nil.
func Check(items []Item) error { panic("not built") }

// WithIDs returns the items, each without an id with one that is made from its question. The
// same items get the same ids.
func WithIDs(items []Item) []Item { panic("not built") }
