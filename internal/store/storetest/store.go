package storetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Store is what an adapter of a database offers. Package store says of each method
// what it returns, which errors it has, and what a repetition does; every method is
// safe for concurrent use, and every write that names a version or a run changes
// nothing when it is repeated.
type Store interface {
	Tenants
	Documents
	Ingestion
	Removals
	Imports
	Syncs
	Runs
	Conversations
	Webhooks
	Reports
	Evaluations
	Governance
	Privacy
	Limits
	Encryption
	Ping(ctx context.Context) error
	// EraseDeleted does nothing where the database is a server.
	EraseDeleted(ctx context.Context) error
	Close() error
}

// Limits keeps what keys, users, projects and workspaces may use, and counts what they do.
type Limits interface {
	TakeRequests(ctx context.Context, r store.TokenRequest) (store.Tokens, error)
	CheckDay(ctx context.Context, workspace string, accounts []knowledge.Account) error
	ChargeUse(ctx context.Context, workspace string, accounts []knowledge.Account, used knowledge.Usage) error
	RunDayLeft(ctx context.Context, workspace, run string) (store.DayLeft, error)
	CheckStored(ctx context.Context, workspace string, accounts []knowledge.Account, added int, bytes int64) error
	WorkspaceLimits(ctx context.Context, workspace string) (knowledge.UseLimits, error)
	SetWorkspaceLimits(ctx context.Context, p knowledge.Principal, limits knowledge.UseLimits) error
	ProjectAccount(ctx context.Context, workspace, idOrName string) (a knowledge.Account, found bool, err error)
}

// Governance keeps the grants and the legal holds of workspaces.
type Governance interface {
	AddGrant(ctx context.Context, p knowledge.Principal, g knowledge.Grant) (knowledge.Grant, error)
	Grant(ctx context.Context, p knowledge.Principal, id string) (knowledge.Grant, error)
	Grants(ctx context.Context, p knowledge.Principal, q store.GrantQuery) ([]knowledge.Grant, string, error)
	RemoveGrant(ctx context.Context, p knowledge.Principal, id string) error
	Granted(ctx context.Context, p knowledge.Principal) (knowledge.Granted, error)
	AddHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (knowledge.Hold, error)
	CountHold(ctx context.Context, p knowledge.Principal, h knowledge.Hold, documents []string) (int, error)
	LiftHold(ctx context.Context, p knowledge.Principal, id, reason string) (knowledge.Hold, error)
	Hold(ctx context.Context, p knowledge.Principal, id string) (knowledge.Hold, error)
	Holds(ctx context.Context, p knowledge.Principal, query store.HoldQuery) ([]knowledge.Hold, string, error)
	RetainDocuments(ctx context.Context, scope store.RetentionScope, after store.RetentionPlace, limit int) (store.RetainedDocuments, error)
	RetainConversations(ctx context.Context, scope store.RetentionScope, limit int) (int, error)
	DueRuns(ctx context.Context, scope store.RetentionScope, limit int) ([]store.Run, error)
	RetentionDue(ctx context.Context, scope store.RetentionScope) (store.RetentionDue, error)
	StartRetention(ctx context.Context, workspace, owner, id string, since time.Time) (run store.Run, started bool, err error)
	EndGrants(ctx context.Context, workspace string, limit int) (next time.Time, err error)
	EndingGrants(ctx context.Context, before time.Time) ([]string, error)
	RetentionWorkspaces(ctx context.Context, since time.Time) ([]string, error)
	NoteRetention(ctx context.Context, ref knowledge.RunRef, p knowledge.RetentionProgress) error
	HeldDocuments(ctx context.Context, p knowledge.Principal, hold string, page store.Page) ([]string, string, error)
}

// Privacy keeps consents, and exports and erases what people left.
type Privacy interface {
	AddConsent(ctx context.Context, p knowledge.Principal, c knowledge.Consent) (knowledge.Consent, error)
	Consent(ctx context.Context, p knowledge.Principal, id string) (knowledge.Consent, error)
	Consents(ctx context.Context, p knowledge.Principal, query store.ConsentQuery, page store.Page) ([]knowledge.Consent, string, error)
	WithdrawConsent(ctx context.Context, p knowledge.Principal, id string) (store.Withdrawal, error)
	RemoveWithdrawn(ctx context.Context, limit int) ([]store.Removal, error)
	CheckConsents(ctx context.Context, ref knowledge.VersionRef) error
	CheckSubjects(ctx context.Context, workspace, project string, subjects []string) error
	BeginSubjectRun(ctx context.Context, p knowledge.Principal, kind knowledge.RunKind, person knowledge.Person, id, reason string) (store.Run, error)
	SubjectForSystem(ctx context.Context, ref knowledge.RunRef) (store.SubjectScope, error)
	SubjectDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]knowledge.Document, error)
	EraseAccounts(ctx context.Context, scope store.SubjectScope) error
	QuotedDocuments(ctx context.Context, scope store.SubjectScope, limit int) ([]string, error)
	NoteQuotations(ctx context.Context, scope store.SubjectScope, documents []string, n int) error
	EraseDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]store.Removal, string, error)
	ErasedDocuments(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]store.ErasedDocument, error)
	EraseWords(ctx context.Context, scope store.SubjectScope) error
	EraseConversations(ctx context.Context, scope store.SubjectScope, limit int) (int, error)
	SubjectRuns(ctx context.Context, scope store.SubjectScope, running bool, after string, limit int) ([]store.Run, error)
	ItemRuns(ctx context.Context, workspace string, items []string) ([]store.Run, error)
	EraseRuns(ctx context.Context, scope store.SubjectScope, ids []string) error
	EraseImport(ctx context.Context, scope store.SubjectScope, id string) error
	EndErasure(ctx context.Context, scope store.SubjectScope) error
	SubjectProfileOf(ctx context.Context, scope store.SubjectScope) (store.SubjectProfile, error)
	SubjectConversations(ctx context.Context, scope store.SubjectScope, after string, limit int) ([]store.SubjectConversation, error)
	SubjectAudit(ctx context.Context, scope store.SubjectScope, after string, limit int) (entries []json.RawMessage, last string, err error)
}

// Syncs keeps the connections to services, and the syncs that follow places there.
type Syncs interface {
	AddConnection(ctx context.Context, p knowledge.Principal, c store.Connection) (store.Connection, error)
	Connection(ctx context.Context, p knowledge.Principal, id string) (store.Connection, error)
	ConnectionForSystem(ctx context.Context, workspace, id string) (store.Connection, error)
	Connections(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Connection, string, error)
	UpdateConnection(ctx context.Context, p knowledge.Principal, id, sealed string) (store.Connection, error)
	RemoveConnection(ctx context.Context, p knowledge.Principal, id string) error
	SetConnectionWait(ctx context.Context, workspace, id string, until time.Time) error
	ClaimSecretCheck(ctx context.Context, c store.Connection, since, now time.Time) (claimed bool, err error)
	SetSecretEnds(ctx context.Context, c store.Connection, ends time.Time) error
	EndsOfSecrets(ctx context.Context) (map[string]time.Time, error)
	AddSync(ctx context.Context, p knowledge.Principal, y store.Sync) (store.Sync, error)
	Sync(ctx context.Context, p knowledge.Principal, id string) (store.Sync, error)
	SyncForSystem(ctx context.Context, workspace, id string) (store.Sync, error)
	Syncs(ctx context.Context, p knowledge.Principal, project string, page store.Page) ([]store.Sync, string, error)
	UpdateSync(ctx context.Context, p knowledge.Principal, id string, patch store.SyncPatch) (store.Sync, error)
	RemoveSync(ctx context.Context, p knowledge.Principal, id string) (store.Sync, error)
	DropSync(ctx context.Context, workspace, id string) error
	MarkScheduled(ctx context.Context, y store.Sync) error
	UnscheduledSyncs(ctx context.Context, before time.Time, limit int) ([]store.Sync, error)
	StartSyncRun(ctx context.Context, n store.NewImport) (store.Import, error)
	SetSyncListing(ctx context.Context, i store.Import, l store.SyncListing) error
	SyncListingOf(ctx context.Context, i store.Import) (l store.SyncListing, there bool, err error)
	MoveCursor(ctx context.Context, i store.Import) error
	ForgetCursor(ctx context.Context, i store.Import) error
	HiddenObjects(ctx context.Context, p knowledge.Principal, i store.Import) (int64, error)
	FollowObjects(ctx context.Context, i store.Import, page int, list []store.FollowedObject) (settled []string, err error)
	MarkGone(ctx context.Context, i store.Import, page int, keys []string) error
	FailedBefore(ctx context.Context, i store.Import, after string, limit int) ([]store.ImportFailure, error)
	GroupsToRead(ctx context.Context, i store.Import, named []string) ([]string, error)
	SetGroupMembers(ctx context.Context, i store.Import, group string, members []string, complete bool) error
	ConnectionGroups(ctx context.Context, workspace, member string) ([]string, error)
	UnresolvedGroups(ctx context.Context, p knowledge.Principal, connection string) (int64, error)
}

// Tenants keeps workspaces, their projects and keys, and what they have chosen.
type Tenants interface {
	PutPublication(ctx context.Context, p knowledge.Principal, project string, change func(*knowledge.Publication) error) (stored knowledge.Publication, created bool, err error)
	Publication(ctx context.Context, p knowledge.Principal, project string) (knowledge.Publication, error)
	Publications(ctx context.Context, p knowledge.Principal) ([]knowledge.Publication, error)
	PublicationBySlug(ctx context.Context, slug string) (knowledge.Publication, error)
	RemovePublication(ctx context.Context, p knowledge.Principal, project string) error
	CreateWorkspace(ctx context.Context, w store.Workspace) error
	Workspaces(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Workspace, string, error)
	WorkspaceExists(ctx context.Context, id string) (bool, error)
	CreateProject(ctx context.Context, p knowledge.Project, keys ...store.Key) error
	UpdateProject(ctx context.Context, p knowledge.Principal, id string, change func(*knowledge.Project) error) (knowledge.Project, error)
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	ProjectsNamed(ctx context.Context, p knowledge.Principal, name string) ([]string, error)
	Projects(ctx context.Context, p knowledge.Principal, page store.Page) ([]knowledge.Project, string, error)
	FindProjects(ctx context.Context, p knowledge.Principal, words string, page store.Page) ([]knowledge.Project, string, error)
	CreateKey(ctx context.Context, k store.Key) error
	RevokeKeyTree(ctx context.Context, p knowledge.Principal, id string) error
	EndedKeys(ctx context.Context, ids []string) ([]string, error)
	RenewKey(ctx context.Context, p knowledge.Principal, id, hash, prefix string) (store.Key, error)
	KeyByHash(ctx context.Context, hash string) (store.Key, error)
	CreateSession(ctx context.Context, session store.Session) error
	CreateSignIn(ctx context.Context, in store.SignIn) error
	TakeSignIn(ctx context.Context, hash string) (store.SignIn, error)
	ExtendSession(ctx context.Context, session store.Session) error
	EndSession(ctx context.Context, hash string) error
	EndedSessions(ctx context.Context, hashes []string) ([]string, error)
	DropSessions(ctx context.Context, limit int) error
	KeyBySession(ctx context.Context, hash string) (store.Session, store.Key, error)
	Keys(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Key, string, error)
	FindKey(ctx context.Context, p knowledge.Principal, id string) (k store.Key, valid bool, err error)
	RevokeKey(ctx context.Context, p knowledge.Principal, id string) error
	ReplaceInstanceKey(ctx context.Context, k store.Key) error
	MarkKeysUsed(ctx context.Context, used map[string]time.Time) error
	SessionsOf(ctx context.Context, p knowledge.Principal, query store.SessionQuery) ([]store.SignedIn, string, error)
	EndSessionOf(ctx context.Context, p knowledge.Principal, id string) error
	PutRole(ctx context.Context, p knowledge.Principal, role store.Role) (stored store.Role, created bool, err error)
	Roles(ctx context.Context, p knowledge.Principal) ([]store.Role, error)
	RolesOf(ctx context.Context, workspace string) ([]store.Role, error)
	RemoveRole(ctx context.Context, p knowledge.Principal, name string) error
	PutMember(ctx context.Context, p knowledge.Principal, m store.Member, builtIn []string) (stored store.Member, created bool, err error)
	Member(ctx context.Context, p knowledge.Principal, name string) (store.Member, error)
	MemberOf(ctx context.Context, workspace, name string) (m store.Member, there bool, err error)
	Members(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Member, string, error)
	RemoveMember(ctx context.Context, p knowledge.Principal, name string) error
	EndedMembers(ctx context.Context, workspace string, users []string) ([]string, error)
	MemberBySubject(ctx context.Context, workspace, subject string) (m store.Member, there bool, err error)
	ProvisionedUsers(ctx context.Context, p knowledge.Principal, q store.ProvisionedQuery) ([]store.ProvisionedUser, int, error)
	ProvisionedUser(ctx context.Context, p knowledge.Principal, id string) (store.ProvisionedUser, error)
	AddProvisionedUser(ctx context.Context, p knowledge.Principal, u store.ProvisionedUser, roles []string, defaultRole string) (store.ProvisionedUser, error)
	ChangeProvisionedUser(ctx context.Context, p knowledge.Principal, id string, change func(*store.ProvisionedUser) (roles []string, err error)) (store.ProvisionedUser, error)
	RemoveProvisionedUser(ctx context.Context, p knowledge.Principal, id string) error
	ProvisionedGroups(ctx context.Context, p knowledge.Principal, q store.ProvisionedQuery, withUsers bool) ([]store.ProvisionedGroup, int, error)
	ProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) (store.ProvisionedGroup, error)
	AddProvisionedGroup(ctx context.Context, p knowledge.Principal, g store.ProvisionedGroup) (store.ProvisionedGroup, error)
	ChangeProvisionedGroup(ctx context.Context, p knowledge.Principal, id string, change func(*store.ProvisionedGroup) error) (store.ProvisionedGroup, error)
	RemoveProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) error
	KeysOfMember(ctx context.Context, p knowledge.Principal, name string) ([]store.Key, error)
	PutSecret(ctx context.Context, p knowledge.Principal, secret store.Secret) (stored knowledge.Secret, created bool, err error)
	Secrets(ctx context.Context, p knowledge.Principal) ([]knowledge.Secret, error)
	RemoveSecret(ctx context.Context, p knowledge.Principal, project, name string) error
	SecretOf(ctx context.Context, workspace, project, name string) (secret store.Secret, there bool, err error)
	Preferences(ctx context.Context, p knowledge.Principal) (json.RawMessage, error)
	SetPreferences(ctx context.Context, p knowledge.Principal, value json.RawMessage) error
	EmbeddingAddress(ctx context.Context, generation string) (string, error)
	MoveEmbeddings(ctx context.Context, generation, was, address string) (string, error)
	UseGeneration(ctx context.Context, generation string) error
	WantedGenerations(ctx context.Context) ([]string, error)
	PublishedIn(ctx context.Context, generation string, limit int) ([]store.PublishedVersion, error)
	Setting(ctx context.Context, name string, create func() string) (string, error)
}

// Documents is what clients see and change of documents.
type Documents interface {
	Documents(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) ([]knowledge.Document, string, error)
	CountDocuments(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) (int, error)
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	ExplainAccess(ctx context.Context, asker, reader knowledge.Principal, documentID string) (store.AccessFindings, error)
	AcknowledgeFailure(ctx context.Context, p knowledge.Principal, id string, undo bool) error
	UnsearchableDocuments(ctx context.Context, p knowledge.Principal, ids, projects []string) ([]knowledge.Document, error)
	UnreachedDocuments(ctx context.Context, p knowledge.Principal, ids []string) ([]string, error)
	Versions(ctx context.Context, p knowledge.Principal, documentID string, page store.Page) ([]store.Version, string, error)
	VersionFor(ctx context.Context, p knowledge.Principal, documentID string, version int) (store.Version, error)
	UpdateDocument(ctx context.Context, p knowledge.Principal, id string, patch store.DocumentPatch) (knowledge.Document, error)
	DocumentChunks(ctx context.Context, p knowledge.Principal, documentID string, page store.Page) ([]knowledge.Chunk, string, error)
	QueryChunks(ctx context.Context, p knowledge.Principal, documentID string, query store.ChunkQuery) ([]knowledge.Chunk, string, error)
	FindChunks(ctx context.Context, p knowledge.Principal, documentID string, query store.ChunkQuery, keep func(*knowledge.Chunk) (bool, error)) ([]knowledge.Chunk, string, error)
	Chunk(ctx context.Context, p knowledge.Principal, id string) (store.ChunkView, error)
	VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error)
	DocumentWithChunks(ctx context.Context, p knowledge.Principal, projects []string) (string, error)
	Attached(ctx context.Context, p knowledge.Principal, projects []string) ([]string, error)
	Facets(ctx context.Context, p knowledge.Principal, projects []string) (store.Facets, error)
	Siblings(ctx context.Context, p knowledge.Principal, ids []string) (map[string][]knowledge.Chunk, error)
	Superseded(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) (bool, error)
}

// Ingestion moves a version from its upload to its publication.
type Ingestion interface {
	AddVersion(ctx context.Context, nv store.NewVersion) (knowledge.Document, store.Version, error)
	ReingestVersion(ctx context.Context, p knowledge.Principal, documentID, runID string, config knowledge.ProjectConfig, now time.Time) (knowledge.Document, store.Version, error)
	CountOutdated(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (int, error)
	OutdatedDocuments(ctx context.Context, q store.OutdatedQuery) (list []store.Outdated, more string, err error)
	StartReindex(ctx context.Context, p knowledge.Principal, project, id string, config knowledge.ProjectConfig) (store.Run, error)
	ReindexVersion(ctx context.Context, reindex string, o store.Outdated, config knowledge.ProjectConfig) (v store.Version, started bool, err error)
	ReindexProgress(ctx context.Context, workspace, id string, part knowledge.ReindexProgress, seconds float64) (knowledge.ReindexProgress, error)
	ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
	ProjectGenerations(ctx context.Context, workspace, project string) (knowledge.Generations, error)
	BeginFilling(ctx context.Context, workspace, project, generation string) (knowledge.Generations, error)
	EndFilling(ctx context.Context, workspace, project, generation string) error
	SwitchGeneration(ctx context.Context, workspace, project, generation string) (switched bool, err error)
	PublishedVersions(ctx context.Context, workspace, project, after string, limit int) ([]store.PublishedVersion, error)
	ChunksForSystem(ctx context.Context, ref knowledge.VersionRef, first, last int) ([]knowledge.Chunk, error)
	StaleProjects(ctx context.Context) ([]store.StaleProject, error)
	AnyPublished(ctx context.Context) (knowledge.VersionRef, bool, error)
	StartRebuild(ctx context.Context, p knowledge.Principal, project, id string) (store.Run, error)
	SearchedGenerations(ctx context.Context, p knowledge.Principal, projects []string) ([]store.SearchedGeneration, error)
	RetryVersion(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (store.Version, error)
	Version(ctx context.Context, ref knowledge.VersionRef) (store.Version, error)
	PendingVersions(ctx context.Context, query store.PendingQuery) ([]store.Version, error)
	BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (store.Version, error)
	PrepareVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64, stage knowledge.Stage, progress float64, f store.Facts) (store.Version, error)
	SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f store.Facts) error
	SetWaiting(ctx context.Context, ref knowledge.VersionRef, w *knowledge.Waiting) error
	PutChunks(ctx context.Context, ref knowledge.VersionRef, chunks []knowledge.Chunk) error
	PutChunksPart(ctx context.Context, ref knowledge.VersionRef, first int, chunks []knowledge.Chunk) error
	TrimChunks(ctx context.Context, ref knowledge.VersionRef, count int) error
	Publish(ctx context.Context, ref knowledge.VersionRef) (store.Published, error)
	PublishVersion(ctx context.Context, p store.Publication) (store.Published, error)
	RetireChunks(ctx context.Context, ref knowledge.VersionRef) error
	FailVersion(ctx context.Context, ref knowledge.VersionRef, runID string, e knowledge.DocumentError) error
	DiscardVersion(ctx context.Context, ref knowledge.VersionRef) error
	RetiredSources(ctx context.Context, ref knowledge.VersionRef) ([]string, error)
	ReplacedVersions(ctx context.Context, ref knowledge.VersionRef, limit int) ([]store.Version, error)
	Room(ctx context.Context, p knowledge.Principal, project, document string) (store.Room, error)
	RoomForSystem(ctx context.Context, workspace, project, document string) (store.Room, error)
	TakeRoom(ctx context.Context, ref knowledge.VersionRef, pages int, bytes int64) error
	NamedSources(ctx context.Context, documents []string) ([]string, error)
	PendingCounts(ctx context.Context) ([]store.PendingCount, error)
	StaleInIndex(ctx context.Context, limit int) ([]string, error)
	LeaseStale(ctx context.Context, document string) (d store.StaleDocument, leased bool, err error)
	InIndex(ctx context.Context, d store.StaleDocument) (again bool, err error)
}

// Removals takes documents away.
type Removals interface {
	MarkRemoving(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (store.Removal, error)
	Removal(ctx context.Context, p knowledge.Principal, documentID string) (store.Removal, error)
	MarkManyRemoving(ctx context.Context, p knowledge.Principal, marks []store.RemovalMark, now time.Time) ([]store.Removal, map[string]error, error)
	PendingRemovals(ctx context.Context, after store.Position, limit int) ([]store.Removal, store.Position, error)
	RemoveProject(ctx context.Context, p knowledge.Principal, id, runID string) (store.Run, error)
	ProjectRuns(ctx context.Context, removal knowledge.RunRef, running bool, limit int) ([]store.Run, error)
	DropRuns(ctx context.Context, workspace string, ids []string) error
	ProjectRemovals(ctx context.Context, workspace, project, after string, limit int) ([]store.Removal, error)
	ProjectImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error)
	DropProject(ctx context.Context, removal knowledge.RunRef) (dropped bool, err error)
	RunningVersions(ctx context.Context, workspace, document string, upto int) ([]store.Version, error)
	SourceKeys(ctx context.Context, workspace, document string, after int) ([]string, error)
	RemoveRows(ctx context.Context, removals ...store.Removal) error
	RetireChildren(ctx context.Context, ref knowledge.VersionRef) error
	ChildRemovals(ctx context.Context, parent string) ([]store.Removal, error)
}

// Imports keeps bulk imports and their objects.
type Imports interface {
	StartImport(ctx context.Context, p knowledge.Principal, n store.NewImport) (store.Import, error)
	RetryImport(ctx context.Context, p knowledge.Principal, id, runID string, now time.Time) (store.Import, error)
	SetImportStatus(ctx context.Context, ref knowledge.ImportRef, status knowledge.ImportStatus) error
	SetImportWait(ctx context.Context, i store.Import, w store.ImportWait) error
	HeldImports(ctx context.Context, p knowledge.Principal, project, id string, code knowledge.Code) ([]store.HeldImport, error)
	HeldForSystem(ctx context.Context) ([]store.HeldImport, error)
	Import(ctx context.Context, p knowledge.Principal, id string) (store.Import, error)
	ImportForSystem(ctx context.Context, ref knowledge.ImportRef) (store.Import, error)
	Imports(ctx context.Context, p knowledge.Principal, f store.ImportFilter, page store.Page) ([]store.Import, string, error)
	ImportFailures(ctx context.Context, p knowledge.Principal, id string, page store.Page) ([]store.ImportFailure, string, error)
	ImportedObjects(ctx context.Context, i store.Import, keys []string) (map[string]store.ImportedObject, error)
	ImportPage(ctx context.Context, i store.Import, page int) (p store.ImportPage, there bool, err error)
	AddImportPage(ctx context.Context, i store.Import, page store.ImportPage, list, late []store.ListedObject) (store.ImportPage, error)
	PutSidecars(ctx context.Context, i store.Import, list []store.Sidecar) error
	ImportSidecars(ctx context.Context, i store.Import, keys []string) (map[string]store.Sidecar, error)
	ClaimVersions(ctx context.Context, list []store.NewVersion, limits knowledge.LimitsConfig) ([]store.ImportClaim, error)
	HasRoom(ctx context.Context, i store.Import, document string, limit int) (bool, error)
	PreviousImport(ctx context.Context, i store.Import) (string, error)
	HasClaim(ctx context.Context, workspace, document string, upto int) (bool, error)
	RecordImported(ctx context.Context, i store.Import, r store.ImportRecord) (store.Recorded, error)
	CountVanished(ctx context.Context, i store.Import, full bool) (int64, error)
	MarkVanished(ctx context.Context, i store.Import, full bool, after string) (store.VanishedPage, error)
	FailedObjects(ctx context.Context, i store.Import, after string, limit int) ([]store.ImportFailure, error)
	MarkRetried(ctx context.Context, i store.Import, o store.RetriedObject) error
	SettleRetried(ctx context.Context, i store.Import) (left int, err error)
}

// Runs keeps runs and the idempotency keys that they were started under.
type Runs interface {
	AddRun(ctx context.Context, r store.Run) error
	StartRun(ctx context.Context, p knowledge.Principal, r store.Run, c *store.Conversation) (after string, err error)
	RunningBefore(ctx context.Context, workspace, after string) (string, error)
	Run(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
	Runs(ctx context.Context, p knowledge.Principal, query store.RunQuery) ([]store.Run, string, error)
	RunForSystem(ctx context.Context, workspace, id string) (store.Run, error)
	RunningRuns(ctx context.Context, query store.RunningQuery) ([]store.Run, error)
	EndRun(ctx context.Context, workspace, id string, end store.RunEnd) error
	EndAnswer(ctx context.Context, workspace, runID string, end store.RunEnd, messages ...store.Message) error
	ClaimKey(ctx context.Context, k store.IdempotencyKey) (*store.IdempotencyRecord, error)
	BeginUpload(ctx context.Context, u store.Upload) error
	RenewUpload(ctx context.Context, sourceKey string) error
	EndUpload(ctx context.Context, sourceKey string) error
	TakeLostUploads(ctx context.Context, before time.Time, limit int) ([]store.Upload, error)
	DailyTurn(ctx context.Context, name string) (bool, error)
	TakeTokens(ctx context.Context, r store.TokenRequest) (store.Tokens, error)
	HoldKey(ctx context.Context, k store.IdempotencyKey) error
	StoreResponse(ctx context.Context, workspace, caller, key string, status int, contentType string, response []byte) error
	ReleaseKey(ctx context.Context, workspace, caller, key string) error
	ReleaseRun(ctx context.Context, workspace, run string) error
}

// Conversations keeps questions and answers.
type Conversations interface {
	EnsureConversation(ctx context.Context, p knowledge.Principal, c store.Conversation) (store.Conversation, error)
	Conversation(ctx context.Context, p knowledge.Principal, id string) (store.Conversation, error)
	Conversations(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Conversation, string, error)
	SearchConversations(ctx context.Context, p knowledge.Principal, words string, page store.Page) ([]store.Conversation, string, error)
	AddShare(ctx context.Context, p knowledge.Principal, share knowledge.Share) error
	Shares(ctx context.Context, p knowledge.Principal, conversation string) ([]knowledge.Share, error)
	Share(ctx context.Context, p knowledge.Principal, conversation, id string) (knowledge.Share, error)
	WithdrawShare(ctx context.Context, p knowledge.Principal, conversation, id string) error
	RenameConversation(ctx context.Context, p knowledge.Principal, id, title string) (store.Conversation, error)
	DeleteConversation(ctx context.Context, p knowledge.Principal, id string) error
	SetFeedback(ctx context.Context, p knowledge.Principal, given store.Feedback) error
	Feedback(ctx context.Context, p knowledge.Principal, runs ...string) ([]store.Feedback, error)
	ImportConversation(ctx context.Context, p knowledge.Principal, c store.Conversation, messages []store.Message) (store.Conversation, bool, error)
	SaveMessages(ctx context.Context, workspace string, list ...store.Message) error
	Messages(ctx context.Context, p knowledge.Principal, conversationID string, page store.Page) ([]store.Message, string, error)
	LatestMessages(ctx context.Context, p knowledge.Principal, conversationID string, page store.Page) ([]store.Message, string, error)
	History(ctx context.Context, p knowledge.Principal, conversation string, n int) (store.History, error)
	SaveSummary(ctx context.Context, workspace, conversation, upto, summary string) error
	DocumentWords(ctx context.Context, p knowledge.Principal, document string, use func(text string)) error
	EndedAnswers(ctx context.Context, workspace, after string, limit int) ([]store.Run, error)
	AnswerMessages(ctx context.Context, r store.Run) ([]store.Message, error)
	RewriteMessage(ctx context.Context, workspace string, m store.Message) error
}

// Webhooks keeps the events that webhooks are told of.
type Webhooks interface {
	WebhookOf(ctx context.Context, q store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error)
	DueDeliveries(ctx context.Context, q store.WebhookQueue, now time.Time, limit int) ([]store.Delivery, error)
	EndAttempt(ctx context.Context, a store.DeliveryAttempt) error
	RestWebhook(ctx context.Context, q store.WebhookQueue, now time.Time) (due bool, next time.Time, err error)
	PendingQueues(ctx context.Context, before time.Time) ([]store.PendingQueue, error)
	Deliveries(ctx context.Context, p knowledge.Principal, query store.DeliveryQuery) ([]store.Delivery, string, error)
	Redeliver(ctx context.Context, p knowledge.Principal, id string) (store.Delivery, error)
	DropDeliveries(ctx context.Context, before time.Time, limit int) error
}
