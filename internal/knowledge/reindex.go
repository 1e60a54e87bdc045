package knowledge

// MaxRefusals is how many refused documents a ReindexProgress names.
const MaxRefusals = 20

// ReindexProgress is how far a reindex is. Documents count once each, and the
// attachments of a document do not count.
type ReindexProgress struct {
	Matched   int       `json:"matched"`   // outdated documents at the start
	Started   int       `json:"started"`   // new versions
	Published int       `json:"published"` // of the started ones, readers see them
	Failed    int       `json:"failed"`    // of the started ones
	Canceled  int       `json:"canceled"`  // of the started ones
	Refused   int       `json:"refused"`   // documents of which no new version can be made
	Refusals  []Refusal `json:"refusals,omitempty"`
	Embedded  int       `json:"embedded,omitempty"` // documents whose vectors were written into the index again
	Rebuild   bool      `json:"rebuild,omitempty"`  // the index is filled again, and no version made
	Paused    bool      `json:"paused,omitempty"`
	PerSecond float64   `json:"documents_per_second,omitempty"` // that ended, without the time of pauses
	Seconds   int64     `json:"eta_seconds,omitempty"`          // that it takes at this rate; 0 = not known, or none
}

// Refusal is a document of which no new version can be made from its stored original.
type Refusal struct {
	ID      string `json:"id"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Pending returns the number of started versions that have not ended.
func (p ReindexProgress) Pending() int { return p.Started - p.Published - p.Failed - p.Canceled }

// WithRate returns the progress with the rate after so many seconds of work.
func (p ReindexProgress) WithRate(seconds float64) ReindexProgress {
	ended := max(p.Embedded, p.Published+p.Failed+p.Canceled)
	p.PerSecond, p.Seconds = 0, 0
	if ended == 0 || seconds <= 0 {
		return p
	}
	p.PerSecond = float64(ended) / seconds
	if left := p.Matched - ended - p.Refused; left > 0 {
		p.Seconds = int64(float64(left)/p.PerSecond) + 1
	}
	return p
}
