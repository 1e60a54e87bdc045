package scrape

// Page is what was read of an address.
type Page struct {
	URL  string `json:"url"` // after redirects
	Text string `json:"text,omitempty"`
	// Refused means that the address, or one that it redirects to, is not one of those
	// that are allowed.
	Refused bool `json:"refused,omitempty"`
	// Scripts says whether the text of a page that seems to come from its scripts does;
	// "" of other pages, and where no browser is configured.
	Scripts Scripts `json:"scripts,omitempty"`
	// Failure says why there is no text.
	Failure Failure `json:"failure,omitempty"`
}

// Scripts says what became of the scripts of a page.
type Scripts string

// The outcomes for the scripts of a page.
const (
	ScriptsRan    Scripts = "ran"
	ScriptsNotRun Scripts = "not_run" // the browser is not there, or it failed: the page is read without it
)

// Failure says why a page was not read.
type Failure string

// The failures.
const (
	FailureTime    Failure = "timeout"
	FailureRobots  Failure = "robots"
	FailureFetch   Failure = "not_fetched"
	FailureExtract Failure = "not_extracted"
)
