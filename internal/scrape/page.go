package scrape

// Page is what was read of an address.
type Page struct {
	URL  string `json:"url"` // after redirects
	Text string `json:"text,omitempty"`
	// Refused means that the address, or one that it redirects to, is not one of those
	// that are allowed.
	Refused bool `json:"refused,omitempty"`
	// Failure says why there is no text.
	Failure Failure `json:"failure,omitempty"`
}

// Failure says why a page was not read.
type Failure string

// The failures.
const (
	FailureTime    Failure = "timeout"
	FailureRobots  Failure = "robots"
	FailureFetch   Failure = "not_fetched"
	FailureExtract Failure = "not_extracted"
)
