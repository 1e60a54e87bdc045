package knowledge

import "strings"

// Person is somebody who left things in a workspace: a person of the workspace, or a user of an
// application.
type Person struct {
	Name     string
	External bool // a user of an application
}

// Owner returns the person as the owner of runs and conversations.
func (p Person) Owner() string {
	if p.External {
		return "x:" + p.Name
	}
	return "u:" + p.Name
}

// PersonOfOwner returns the person whom Owner names. ok is false for a key.
func PersonOfOwner(owner string) (p Person, ok bool) {
	kind, name, _ := strings.Cut(owner, ":")
	return Person{Name: name, External: kind == "x"}, name != "" && (kind == "u" || kind == "x")
}

// Erased counts what an erasure has removed.
type Erased struct {
	Documents     int `json:"documents"`
	Conversations int `json:"conversations"`
	Runs          int `json:"runs" doc:"Questions, evaluations and exports, with their answers, files and histories"`
	Quotations    int `json:"quotations" doc:"Answers to other people from which quotations of the documents were cut"`
	Preferences   int `json:"preferences"`
	Feedback      int `json:"feedback" doc:"Ratings and comments on answers, and reviews of evaluations"`
	TestSets      int `json:"test_sets"`
	TestItems     int `json:"test_items" doc:"Questions and expected answers of the person in the test sets of others"`
	Consents      int `json:"consents"`
	Grants        int `json:"grants"`
	Keys          int `json:"keys"`
	Sessions      int `json:"sessions"`
	Memberships   int `json:"memberships"`
	Requests      int `json:"requests" doc:"Answers that were kept for repeated requests"`
}

// Add adds o to e.
func (e *Erased) Add(o Erased) {
	e.Documents += o.Documents
	e.Conversations += o.Conversations
	e.Runs += o.Runs
	e.Quotations += o.Quotations
	e.Preferences += o.Preferences
	e.Feedback += o.Feedback
	e.TestSets += o.TestSets
	e.TestItems += o.TestItems
	e.Consents += o.Consents
	e.Grants += o.Grants
	e.Keys += o.Keys
	e.Sessions += o.Sessions
	e.Memberships += o.Memberships
	e.Requests += o.Requests
}

// ErasureProgress is what an erasure has done.
type ErasureProgress struct {
	Reason     string         `json:"reason"`
	Removed    Erased         `json:"removed"`
	KeptByHold []HeldDocument `json:"kept_by_hold" doc:"The first 1,000 documents that a legal hold keeps; known at the end"`
}

// ExportProgress is what an export has written.
type ExportProgress struct {
	Documents     int `json:"documents"`
	Conversations int `json:"conversations"`
	Runs          int `json:"runs"`
	AuditEntries  int `json:"audit_entries"`
}
