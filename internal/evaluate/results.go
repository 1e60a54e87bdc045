package evaluate

// TestResult is an element of the payload of the webhook tests_results. Score and Context are on
// the scale 0, 1.5, 2, and null if they were not judged.
type TestResult struct {
	ID           string   `json:"id"`
	Question     string   `json:"question"`
	Reference    string   `json:"reference"`
	Answer       string   `json:"answer"`
	Score        *float64 `json:"score"`
	Context      *float64 `json:"context"`
	Faithfulness *float64 `json:"faithfulness"`
	Reason       string   `json:"reason,omitempty"`
	Repeat       int      `json:"repeat"`
	Tags         []string `json:"tags,omitempty"`
	Error        string   `json:"error,omitempty"`
}

// TestResults returns the payload of the webhook tests_results for a report, in the order of its
// items and repeats. It is never nil.
func TestResults(r Report) []TestResult { panic("not built") }
