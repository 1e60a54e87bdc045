package knowledge

import (
	"fmt"
	"time"
)

// ImportStatus is the state of an import.
type ImportStatus string

// The statuses of an import. The last three are final, until failed objects are
// retried.
const (
	ImportRunning   ImportStatus = "running"
	ImportPaused    ImportStatus = "paused"
	ImportCompleted ImportStatus = "completed"
	ImportFailed    ImportStatus = "failed" // the source could not be listed to its end
	ImportCanceled  ImportStatus = "canceled"
)

// Open reports whether the import has not ended.
func (s ImportStatus) Open() bool { return s == ImportRunning || s == ImportPaused }

// ImportStatusOf returns the status of an import whose run has this status.
func ImportStatusOf(run RunStatus) ImportStatus {
	switch run {
	case RunCompleted:
		return ImportCompleted
	case RunFailed:
		return ImportFailed
	case RunCanceled:
		return ImportCanceled
	}
	return ImportRunning
}

// ImportRef names an import. Project is the project of its documents.
type ImportRef struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Import    string `json:"import"`
}

// WorkflowID returns the id of the workflow of a run of the import. The first run has
// the id of the import; later ones retry what failed.
func (r ImportRef) WorkflowID(run string) string {
	id := KindImport.WorkflowID(r.Workspace, r.Import)
	if run == r.Import {
		return id
	}
	return id + "/retry-" + run
}

// PageWorkflowID returns the id of the workflow of a page of the import, 0 = first.
func (r ImportRef) PageWorkflowID(page int) string {
	return fmt.Sprintf("%s/page-%06d", KindImport.WorkflowID(r.Workspace, r.Import), page)
}

// Prefix returns the prefix of the blobs that belong to the import alone.
func (r ImportRef) Prefix() string { return r.Workspace + "/imports/" + r.Import + "/" }

// ManifestKey returns the blob key of the objects of a page.
func (r ImportRef) ManifestKey(page int) string {
	return fmt.Sprintf("%smanifest-%06d.json", r.Prefix(), page)
}

// ArchiveKey returns the blob key of the archive that the import fetched.
func (r ImportRef) ArchiveKey() string { return r.Prefix() + "archive" }

// StateKey returns the blob key of a value that the source keeps between pages.
func (r ImportRef) StateKey(name string) string { return r.Prefix() + "state/" + name }

// ImportCounts counts the objects of an import. Every object counts in Discovered
// and, once its outcome is stored, in one of Published, Skipped and Failed.
type ImportCounts struct {
	Discovered int64 `json:"discovered"`
	Published  int64 `json:"published"`
	Skipped    int64 `json:"skipped"` // unchanged since an import before
	Failed     int64 `json:"failed"`
	Vanished   int64 `json:"vanished"` // imported before, and no longer in the source
	Deleted    int64 `json:"deleted"`  // vanished objects whose documents are removed
	Bytes      int64 `json:"bytes"`    // of the published objects
}

// Remaining returns the number of discovered objects that have no outcome yet.
func (c ImportCounts) Remaining() int64 {
	return max(c.Discovered-c.Published-c.Skipped-c.Failed, 0)
}

// ImportWaiting says why documents of an import wait, and until when.
type ImportWaiting struct {
	Documents int64     `json:"documents"` // that wait
	Since     time.Time `json:"since"`
	NextAt    time.Time `json:"next_at"` // when the next of them is tried
	Code      Code      `json:"code"`
	Message   string    `json:"message"`
}

// Pace estimates the speed of an import.
type Pace struct {
	PerSecond float64
	// Left is the time until all discovered objects have an outcome, nil if it is
	// not known.
	Left *time.Duration
}

// Pace returns the speed of an import whose counts were reached in a time of
// activity. listed reports whether all of the source is discovered.
func (c ImportCounts) Pace(active time.Duration, listed bool) Pace {
	var p Pace
	done := c.Published + c.Skipped + c.Failed
	if active > 0 {
		p.PerSecond = float64(done) / active.Seconds()
	}
	if listed && (p.PerSecond > 0 || c.Remaining() == 0) {
		left := time.Duration(0)
		if c.Remaining() > 0 {
			left = time.Duration(float64(c.Remaining()) / p.PerSecond * float64(time.Second))
		}
		p.Left = &left
	}
	return p
}
