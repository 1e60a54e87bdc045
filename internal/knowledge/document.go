package knowledge

import (
	"slices"
	"time"
)

// Status is where the newest version of a document stands.
type Status string

// The statuses of a document.
const (
	StatusPending   Status = "pending"
	StatusPublished Status = "published"
	StatusError     Status = "error"
	StatusInactive  Status = "inactive"
	StatusDeleting  Status = "deleting"
)

// Stage is a step of ingestion.
type Stage string

// The stages, in their order.
const (
	StageFetch   Stage = "fetch"
	StageCheck   Stage = "check"
	StageExtract Stage = "extract"
	StageRedact  Stage = "redact" // of projects that look for personal data
	StageEnrich  Stage = "enrich"
	StageChunk   Stage = "chunk"
	StageEmbed   Stage = "embed"
	StagePublish Stage = "publish"
)

// DocumentError says why a version was not published.
type DocumentError struct {
	Code      Code   `json:"code"`
	Stage     Stage  `json:"stage"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Waiting says why a step of a document waits for its next try, and until when.
type Waiting struct {
	Since   time.Time `json:"since"`   // the first failure
	Attempt int       `json:"attempt"` // how many tries have failed
	Of      int       `json:"of"`      // with so many the document fails
	NextAt  time.Time `json:"nextAt"`
	Code    Code      `json:"code"`
	Message string    `json:"message"`
}

// MayRetry reports whether a retry of the version can help, perhaps after a change of
// the server: an endpoint that refuses a request for good can be configured anew, a
// component installed, and a limit raised.
func (e DocumentError) MayRetry() bool {
	return e.Retryable || slices.Contains([]Code{CodeProviderFailed, CodeNeedsComponent, CodeLimitReached, CodeConsentMissing, CodeStepFailed, CodeStepRejected}, e.Code)
}

// Document is a document as SQL knows it: as its published version has it, or
// its newest while none is published. Status, Stage, Progress, Version and Error
// speak of the newest and never hide an older one that is published.
type Document struct {
	ID               string
	Workspace        string
	Project          string
	ExternalID       string
	Name             string
	MediaType        string
	Bytes            int64
	Status           Status
	Stage            Stage
	Progress         float64 // 0..1
	Version          int     // the newest
	PublishedVersion int     // 0 = none
	Error            *DocumentError
	Acknowledged     bool     // a person knows of the failure
	Waiting          *Waiting // nil = no step waits for its next try
	ChunkCount       int
	PageCount        int
	Warnings         []Warning // what was read with doubt
	Language         string    // ISO 639-3, "und" = not known
	Tags             []string
	Metadata         map[string]any
	Classification   string
	Access           Access
	ExternalUserID   string
	ConversationID   string
	Subjects         []string // the people whom it is about
	LegalHold        bool
	ParentID         string         // the document of which it is an attachment
	WebhookErrors    []WebhookError // the last answer of each webhook, where it is an error
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// Readers are those for whom a document or a version is.
type Readers struct {
	Access         Access
	ExternalUserID string // "" = no external user has it alone
	ConversationID string // "" = it is in no conversation alone
}

// Readers returns for whom the published version is, or the newest one if none is published.
func (d Document) Readers() Readers { return Readers{d.Access, d.ExternalUserID, d.ConversationID} }

// ACL returns the document's access tokens.
func (d Document) ACL() []string {
	return ACL(d.Workspace, d.Access, d.ExternalUserID, d.ConversationID)
}

// VersionRef names one version of one document.
type VersionRef struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Document  string `json:"document"`
	Version   int    `json:"version"`
}
