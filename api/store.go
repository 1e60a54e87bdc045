package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// Store is what the routes ask of the database. Every read takes the principal
// that asks, and what that principal may not see is CodeNotFound. It is safe for
// concurrent use.
//
// A list method returns one page, and the cursor of the next one, "" after the
// last.
type Store interface {
	Tenants
	Publications
	Roles
	Members
	LimitStore
	Grants
	Holds
	Consents
	Subjects
	Retention
	Provisioning
	BrowserSessions
	Documents
	Conversations
	Runs
	Imports
	Deliveries
	TestSets
	Evaluations
	following.Store
	AuditStore
	idempotency.Store
	question.Store
	intake.Store
}

// Tenants holds workspaces, projects, keys and preferences.
type Tenants interface {
	// CreateWorkspace makes a workspace. One with its id already is CodeConflict.
	CreateWorkspace(ctx context.Context, w store.Workspace) error
	// Workspaces lists the workspaces: all for the instance's administrator, else
	// the principal's own.
	Workspaces(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Workspace, string, error)
	// CreateProject makes a project and its keys in one transaction. One with its
	// id already is CodeConflict.
	CreateProject(ctx context.Context, p knowledge.Project, keys ...store.Key) error
	// UpdateProject changes a project in one transaction. change may run more than
	// once; its error is returned, and then nothing is changed.
	UpdateProject(ctx context.Context, p knowledge.Principal, id string, change func(*knowledge.Project) error) (knowledge.Project, error)
	// Project returns a project by its id or its name.
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	// ProjectsNamed returns the ids of the projects with this name that the principal
	// covers, oldest first, 100 at most.
	ProjectsNamed(ctx context.Context, p knowledge.Principal, name string) ([]string, error)
	// Projects lists the projects that the principal covers.
	Projects(ctx context.Context, p knowledge.Principal, page store.Page) ([]knowledge.Project, string, error)
	// FindProjects lists those whose name and id together contain each of the words.
	FindProjects(ctx context.Context, p knowledge.Principal, words string, page store.Page) ([]knowledge.Project, string, error)
	// ProjectUsage returns what the runs of a project used that began in [from, to),
	// by the day in UTC and the model.
	ProjectUsage(ctx context.Context, p knowledge.Principal, idOrName string, from, to time.Time) ([]knowledge.DayUsage, error)
	// Usage is ProjectUsage for each project, key or person, for the admin scope.
	Usage(ctx context.Context, p knowledge.Principal, by store.UsageBy, from, to time.Time) ([]store.OwnedUsage, error)
	// RemoveProject hides a project and puts its removal on record. A removal under way is
	// returned again. One with a document under legal hold is CodeConflict.
	RemoveProject(ctx context.Context, p knowledge.Principal, id, runID string) (store.Run, error)
	// CreateKey stores a new key. One with its id already is CodeConflict.
	CreateKey(ctx context.Context, k store.Key) error
	// RenewKey replaces the secret of a key.
	RenewKey(ctx context.Context, p knowledge.Principal, id, hash, prefix string) (store.Key, error)
	// Keys lists the keys of the principal's workspace.
	Keys(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Key, string, error)
	// FindKey returns a key, and whether it is valid.
	FindKey(ctx context.Context, p knowledge.Principal, id string) (k store.Key, valid bool, err error)
	// RevokeKey makes a key unusable at once. Revoking it twice is fine.
	RevokeKey(ctx context.Context, p knowledge.Principal, id string) error
	// RevokeKeyTree does so with a key and all keys that it and they have made.
	RevokeKeyTree(ctx context.Context, p knowledge.Principal, id string) error
	// PutSecret stores a secret in the place of an earlier one of the same name and owner.
	PutSecret(ctx context.Context, p knowledge.Principal, secret store.Secret) (stored knowledge.Secret, created bool, err error)
	// Secrets lists the stored secrets that the principal may name, by name and project.
	Secrets(ctx context.Context, p knowledge.Principal) ([]knowledge.Secret, error)
	// RemoveSecret deletes the stored secret of a project, "" = of the workspace.
	RemoveSecret(ctx context.Context, p knowledge.Principal, project, name string) error
	// Preferences returns the principal's preferences as JSON, "{}" if it has none.
	Preferences(ctx context.Context, p knowledge.Principal) (json.RawMessage, error)
	// SetPreferences replaces the principal's preferences.
	SetPreferences(ctx context.Context, p knowledge.Principal, value json.RawMessage) error
}

// Roles holds the roles that workspaces have defined.
type Roles interface {
	// PutRole stores a role in the place of an earlier one of its name. created reports that
	// there was none.
	PutRole(ctx context.Context, p knowledge.Principal, role store.Role) (stored store.Role, created bool, err error)
	// Roles lists the roles of the principal's workspace by name.
	Roles(ctx context.Context, p knowledge.Principal) ([]store.Role, error)
	// RemoveRole deletes a role. One that a key or a member has is CodeConflict.
	RemoveRole(ctx context.Context, p knowledge.Principal, name string) error
}

// Members holds the members of workspaces.
type Members interface {
	// PutMember stores a member in the place of an earlier one of its name. created reports
	// that there was none. A role or a project that does not exist is CodeNotFound.
	PutMember(ctx context.Context, p knowledge.Principal, m store.Member, builtIn []string) (stored store.Member, created bool, err error)
	// Member returns a member by its name.
	Member(ctx context.Context, p knowledge.Principal, name string) (store.Member, error)
	// Members lists the members by name.
	Members(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Member, string, error)
	// RemoveMember deletes a member, and revokes the keys of a service account.
	RemoveMember(ctx context.Context, p knowledge.Principal, name string) error
	// KeysOfMember lists the keys of a service account that are not revoked, newest first.
	KeysOfMember(ctx context.Context, p knowledge.Principal, name string) ([]store.Key, error)
}

// Grants holds the grants of workspaces.
type Grants interface {
	// AddGrant stores a grant; one with its id is returned as it is. An object or a project
	// that is not there is CodeNotFound.
	AddGrant(ctx context.Context, p knowledge.Principal, g knowledge.Grant) (knowledge.Grant, error)
	// Grant returns a grant.
	Grant(ctx context.Context, p knowledge.Principal, id string) (knowledge.Grant, error)
	// Grants lists grants, newest first.
	Grants(ctx context.Context, p knowledge.Principal, q store.GrantQuery) ([]knowledge.Grant, string, error)
	// RemoveGrant deletes a grant.
	RemoveGrant(ctx context.Context, p knowledge.Principal, id string) error
}

// Holds holds the legal holds of workspaces.
type Holds interface {
	// AddHold places a hold on the documents of these ids, or on those that meet its filter.
	// A document that is not there is CodeNotFound.
	AddHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (knowledge.Hold, error)
	// CountHold counts the documents that AddHold would hold, and refuses what it refuses.
	CountHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (int, error)
	// LiftHold lifts a hold. One that was lifted before is CodeConflict.
	LiftHold(ctx context.Context, p knowledge.Principal, id, reason string) (knowledge.Hold, error)
	// Hold returns a hold.
	Hold(ctx context.Context, p knowledge.Principal, id string) (knowledge.Hold, error)
	// Holds lists holds, newest first.
	Holds(ctx context.Context, p knowledge.Principal, query store.HoldQuery) ([]knowledge.Hold, string, error)
	// HeldDocuments lists the ids of the documents of a hold.
	HeldDocuments(ctx context.Context, p knowledge.Principal, hold string, page store.Page) ([]string, string, error)
}

// Consents holds the consents of the people whom documents are about. A principal of one project
// is CodeForbidden.
type Consents interface {
	// AddConsent stores a consent, or returns the one of its id.
	AddConsent(ctx context.Context, p knowledge.Principal, c knowledge.Consent) (knowledge.Consent, error)
	// Consent returns a consent.
	Consent(ctx context.Context, p knowledge.Principal, id string) (knowledge.Consent, error)
	// Consents lists consents, newest first.
	Consents(ctx context.Context, p knowledge.Principal, query store.ConsentQuery, page store.Page) ([]knowledge.Consent, string, error)
	// WithdrawConsent ends a consent, and hides the documents that name its subject.
	WithdrawConsent(ctx context.Context, p knowledge.Principal, id string) (store.Withdrawal, error)
}

// Subjects begins runs that concern all that a person left. A principal of one project is
// CodeForbidden.
type Subjects interface {
	// BeginSubjectRun inserts a run that exports or erases what a person left, or returns the
	// one that is under way. reason is that of an erasure.
	BeginSubjectRun(ctx context.Context, p knowledge.Principal, kind knowledge.RunKind, person knowledge.Person, id, reason string) (store.Run, error)
}

// Retention finds what projects keep no longer, and starts its removal.
type Retention interface {
	// DueRetention counts what is due. A principal of one project is CodeForbidden.
	DueRetention(ctx context.Context, p knowledge.Principal, base string) (store.RetentionDue, error)
	// BeginRetention inserts a run of retention, or returns the one that is under way.
	BeginRetention(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
}

// BrowserSessions holds the sessions of browsers.
type BrowserSessions interface {
	// SessionsOf lists the sessions that have not ended: those of the principal's own key or,
	// with the permission sessions.admin, of the keys that it may list.
	SessionsOf(ctx context.Context, p knowledge.Principal, query store.SessionQuery) ([]store.SignedIn, string, error)
	// EndSessionOf ends one of them.
	EndSessionOf(ctx context.Context, p knowledge.Principal, id string) error
}

// Documents holds documents, their versions and their passages.
type Documents interface {
	// Document returns a document.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// Documents lists documents, newest first.
	Documents(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) ([]knowledge.Document, string, error)
	// CountDocuments counts the documents that the query asks for.
	CountDocuments(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) (int, error)
	// DocumentSummary counts documents by status, by the code of their failure, and by the
	// cause for which they wait or were not heard of since before.
	DocumentSummary(ctx context.Context, p knowledge.Principal, before time.Time) (store.DocumentSummary, error)
	// ExplainAccess returns which rules let a search of a reader show a document, for the
	// admin scope.
	ExplainAccess(ctx context.Context, asker, reader knowledge.Principal, documentID string) (store.AccessFindings, error)
	// AcknowledgeFailure marks the failure of a document as known to a person, or undoes it.
	AcknowledgeFailure(ctx context.Context, p knowledge.Principal, id string, undo bool) error
	// UpdateDocument changes a document and its pending versions in one transaction.
	UpdateDocument(ctx context.Context, p knowledge.Principal, id string, patch store.DocumentPatch) (knowledge.Document, error)
	// MarkRemoving hides a document and puts its removal on record. A document
	// under legal hold is CodeConflict. A removal under way is returned again.
	MarkRemoving(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (store.Removal, error)
	// MarkManyRemoving is MarkRemoving for many documents. It returns, by document, why
	// others are refused; with an error, the removals that are on record.
	MarkManyRemoving(ctx context.Context, p knowledge.Principal, marks []store.RemovalMark, now time.Time) ([]store.Removal, map[string]error, error)
	// VersionFor returns one version of a document.
	VersionFor(ctx context.Context, p knowledge.Principal, documentID string, version int) (store.Version, error)
	// Versions lists a document's versions, newest first.
	Versions(ctx context.Context, p knowledge.Principal, documentID string, page store.Page) ([]store.Version, string, error)
	// Chunk returns a passage. One of a removed document that a conversation of the
	// principal cites is CodeGone.
	Chunk(ctx context.Context, p knowledge.Principal, id string) (store.ChunkView, error)
	// DocumentChunks lists the passages of the published version in their order.
	DocumentChunks(ctx context.Context, p knowledge.Principal, documentID string, page store.Page) ([]knowledge.Chunk, string, error)
	// QueryChunks is DocumentChunks for a part of the passages.
	QueryChunks(ctx context.Context, p knowledge.Principal, documentID string, query store.ChunkQuery) ([]knowledge.Chunk, string, error)
	// FindChunks lists those of QueryChunks that keep chooses, and that it may change.
	FindChunks(ctx context.Context, p knowledge.Principal, documentID string, query store.ChunkQuery, keep func(*knowledge.Chunk) (bool, error)) ([]knowledge.Chunk, string, error)
	// VisibleChunks returns the chunks of the hits that the principal's tokens reach.
	VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error)
	// Siblings returns, by the id of each chunk that has a parent, the chunks of it.
	Siblings(ctx context.Context, p knowledge.Principal, ids []string) (map[string][]knowledge.Chunk, error)
}

// Conversations holds the conversations of the principal that asks, and what is said of
// their answers.
type Conversations interface {
	// EnsureConversation makes the conversation unless the principal has it already.
	EnsureConversation(ctx context.Context, p knowledge.Principal, c store.Conversation) (store.Conversation, error)
	// ImportConversation makes the conversation of messages from elsewhere, and reports
	// whether that changed anything.
	ImportConversation(ctx context.Context, p knowledge.Principal, c store.Conversation, messages []store.Message) (store.Conversation, bool, error)
	// Conversation returns a conversation.
	Conversation(ctx context.Context, p knowledge.Principal, id string) (store.Conversation, error)
	// Conversations lists the conversations, newest first.
	Conversations(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Conversation, string, error)
	// SearchConversations lists those in whose title and messages each of the words begins
	// a word.
	SearchConversations(ctx context.Context, p knowledge.Principal, words string, page store.Page) ([]store.Conversation, string, error)
	// Messages lists the messages of a conversation, oldest first.
	Messages(ctx context.Context, p knowledge.Principal, conversationID string, page store.Page) ([]store.Message, string, error)
	// LatestMessages is Messages, newest first.
	LatestMessages(ctx context.Context, p knowledge.Principal, conversationID string, page store.Page) ([]store.Message, string, error)
	// SetFeedback stores what the principal says of an answer, in place of what it said before.
	SetFeedback(ctx context.Context, p knowledge.Principal, given store.Feedback) error
	// Feedback returns what was said of the answers of runs, oldest first: by the principal
	// or, for an administrator, by everybody.
	Feedback(ctx context.Context, p knowledge.Principal, runs ...string) ([]store.Feedback, error)
	// AddShare stores a link to a conversation, Shares lists those that have not ended, newest
	// first, and Share returns one of them.
	AddShare(ctx context.Context, p knowledge.Principal, share knowledge.Share) error
	Shares(ctx context.Context, p knowledge.Principal, conversation string) ([]knowledge.Share, error)
	Share(ctx context.Context, p knowledge.Principal, conversation, id string) (knowledge.Share, error)
	// WithdrawShare ends a link to a conversation.
	WithdrawShare(ctx context.Context, p knowledge.Principal, conversation, id string) error
	// RenameConversation gives a conversation another title.
	RenameConversation(ctx context.Context, p knowledge.Principal, id, title string) (store.Conversation, error)
	// DeleteConversation deletes a conversation and starts the removal of what is
	// attached to it.
	DeleteConversation(ctx context.Context, p knowledge.Principal, id string) error
}

// Imports holds bulk imports, for principals with the write scope.
type Imports interface {
	importing.Store
	// Imports lists imports, newest first.
	Imports(ctx context.Context, p knowledge.Principal, f store.ImportFilter, page store.Page) ([]store.Import, string, error)
	// ImportFailures lists the objects that an import could not import.
	ImportFailures(ctx context.Context, p knowledge.Principal, id string, page store.Page) ([]store.ImportFailure, string, error)
}

// Runs holds the runs.
type Runs interface {
	// CountOutdated counts the documents of a project that a reindex would make again.
	CountOutdated(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (int, error)
	// OutdatedIDs returns these documents.
	OutdatedIDs(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (store.OutdatedSet, error)
	// FilterOutdated returns the filter by which Documents lists the outdated documents of
	// projects.
	FilterOutdated(ctx context.Context, p knowledge.Principal, projects ...knowledge.Project) (*store.OutdatedFilter, error)
	// StaleProject counts the documents of a project that were embedded with another model
	// than the one that is wanted by now.
	StaleProject(ctx context.Context, p knowledge.Principal, project knowledge.Project) (store.StaleProject, error)
	// StartReindex makes the run of a reindex. It returns the one that runs, if the
	// project has one, or that the same owner started before under this id.
	StartReindex(ctx context.Context, p knowledge.Principal, project, id string, config knowledge.ProjectConfig) (store.Run, error)
	// StartRebuild makes the run that writes the index entries of a project again, in the
	// same way.
	StartRebuild(ctx context.Context, p knowledge.Principal, project, id string) (store.Run, error)
	// Run returns a run.
	Run(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, p knowledge.Principal, query store.RunQuery) ([]store.Run, string, error)
	// EndRun ends a run; an end that was stored before stays.
	EndRun(ctx context.Context, workspace, id string, end store.RunEnd) error
}

// Deliveries holds the events that webhooks are told of.
type Deliveries interface {
	// Deliveries lists deliveries to webhooks, newest first.
	Deliveries(ctx context.Context, p knowledge.Principal, query store.DeliveryQuery) ([]store.Delivery, string, error)
	// Redeliver makes a delivery pending again, or due at once. One to a webhook that
	// is disabled or was removed is CodeConflict.
	Redeliver(ctx context.Context, p knowledge.Principal, id string) (store.Delivery, error)
}

// FollowedRuns reads a run for somebody who was proved to be allowed to follow
// it: the holder of a signed link, or a reader whose run has not begun. It checks
// no permission itself.
type FollowedRuns interface {
	// RunForSystem returns a run. One that does not exist is CodeNotFound.
	RunForSystem(ctx context.Context, workspace, id string) (store.Run, error)
}
