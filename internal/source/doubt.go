package source

// The bounds of doubt: a place with fewer objects may lose half of them at once, and a
// listing is not believed this many times, one after another.
const (
	doubtfulFrom = 20
	doubtfulRuns = 3
)

// Doubt is what the runs of a place remember of their listings of everything. What such a
// listing does not have is gone, so one that may have missed objects is not believed at once:
// the search index of a service may be incomplete, and a site may show one page for all.
type Doubt struct {
	Count int `json:"count,omitempty"` // objects of the last listing that was believed
	Runs  int `json:"runs,omitempty"`  // listings since that were not
}

// After returns the doubt after a listing of everything with so many objects, and whether
// what it did not list is gone. shifted reports that the place changed while it was listed.
func (d Doubt) After(count int, shifted bool) (after Doubt, full bool) {
	doubtful := shifted || d.Count >= doubtfulFrom && count < d.Count/2
	if doubtful && d.Runs < doubtfulRuns {
		return Doubt{Count: d.Count, Runs: d.Runs + 1}, false
	}
	return Doubt{Count: count}, true
}
