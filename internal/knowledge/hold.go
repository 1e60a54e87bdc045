package knowledge

import (
	"slices"
	"time"
)

// Hold keeps documents from removal until it is lifted.
type Hold struct {
	ID         string
	Workspace  string
	Project    string // that it concerns alone, "" = every project
	Name       string
	Reason     string
	Filter     *HoldFilter // nil = its documents were named
	Documents  int         // under it
	CreatedBy  string      // as Principal.Owner names it
	CreatedAt  time.Time
	LiftedBy   string
	LiftedAt   time.Time // zero = it holds
	LiftReason string
}

// HoldFilter selects the documents of a hold: those that meet it when the hold begins, and
// those that come to meet it later. Empty fields select all; of several tags one is enough.
type HoldFilter struct {
	Project    string   `json:"project,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Conditions Filter   `json:"conditions,omitempty"`
}

// Matches reports whether a document meets the filter.
func (f HoldFilter) Matches(d Document) bool {
	hasTag := len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(d.Tags, tag) })
	return (f.Project == "" || f.Project == d.Project) && hasTag && f.Conditions.Matches(d)
}

// IsEmpty reports whether every document meets the filter.
func (f HoldFilter) IsEmpty() bool { return f.Project == "" && len(f.Tags)+len(f.Conditions) == 0 }
