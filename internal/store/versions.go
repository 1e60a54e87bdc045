package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// versionStore has the versions of documents, from the upload to the publication.
type versionStore struct {
	*database
	names *generationNames
}

// undetermined is the language before it is detected.
const undetermined = "und"

// Version is one version of a document, with the attributes that are the
// document's once it is published.
type Version struct {
	knowledge.VersionRef
	RunID          string
	Begun          bool
	Status         knowledge.Status // pending, published, error, or inactive: a newer one took its place
	Stage          knowledge.Stage
	Error          *knowledge.DocumentError
	Name           string
	MediaType      string
	Language       string
	SourceKey      string
	SourceURL      string
	Bytes          int64
	ChunkCount     int
	PageCount      int
	Warnings       []knowledge.Warning
	Splitter       knowledge.Splitter
	Override       knowledge.Override
	Enrichment     knowledge.VersionEnrichment
	SealedPassword string // of the file; "" once the version has ended
	HadPassword    bool   // the upload brought a password
	Tags           []string
	Metadata       map[string]any
	Classification string
	Access         knowledge.Access
	ExternalUserID string
	ConversationID string
	Subjects       []string // the people whom it is about
	UploadedBy     string   // as the owner of a run; "" = not known, or the server
	ACL            []string
	Removing       bool // the running removal includes it
	Blocked        bool // it waits for a removal of older versions
	CreatedAt      time.Time
	UpdatedAt      time.Time

	DocumentCreatedAt time.Time
	ExternalID        string // of the document
	Reindex           string // the run of the reindex that added it, "" = none; only PendingVersions sets it
}

type versionRow struct {
	bun.BaseModel `bun:"table:document_versions,alias:v"`
	attributes
	DocumentID  string `bun:"document_id,pk"`
	Version     int    `bun:"version,pk"`
	Workspace   string `bun:"workspace"`
	Project     string `bun:"project"`
	RunID       string `bun:"run_id"`
	Begun       bool   `bun:"begun"`
	Status      string `bun:"status"`
	Stage       string `bun:"stage"`
	Error       string `bun:"error"`
	MediaType   string `bun:"media_type"`
	Language    string `bun:"language"`
	SourceKey   string `bun:"source_key"`
	SourceURL   string `bun:"source_url"`
	Digest      string `bun:"digest"`
	Bytes       int64  `bun:"bytes"`
	ChunkCount  int    `bun:"chunk_count"`
	PageCount   int    `bun:"page_count"`
	Warnings    string `bun:"warnings"`
	Splitter    string `bun:"splitter"`
	Override    string `bun:"override"`
	Enrichment  string `bun:"enrichment"`
	Password    string `bun:"sealed_password"`
	HadPassword bool   `bun:"had_password"`
	UploadedBy  string `bun:"uploaded_by"` // as the owner of a run; "" = not known, or the server
	CreatedAt   int64  `bun:"created_at"`
	UpdatedAt   int64  `bun:"updated_at"`

	// Of the document, when it was joined.
	RemovingUpto      int   `bun:"removing_upto,scanonly"`
	PublishedVersion  int   `bun:"published_version,scanonly"`
	DocumentCreatedAt int64 `bun:"document_created_at,scanonly"`

	ExternalID string `bun:"external_id,scanonly"`

	ParentRun string `bun:"parent_run,scanonly"` // of its run, if PendingVersions read the row

	Webhooks string `bun:"webhooks,scanonly"` // of its project, if loadVersion read the row
}

// selectVersions begins a query of versions v with their documents d.
func selectVersions(db bun.IDB, model any) *bun.SelectQuery {
	return db.NewSelect().Model(model).ColumnExpr("v.*, d.removing_upto, d.published_version, d.created_at AS document_created_at, d.external_id").
		Join("JOIN documents AS d ON d.id = v.document_id")
}

func (r *versionRow) ref() knowledge.VersionRef {
	return knowledge.VersionRef{Workspace: r.Workspace, Project: r.Project, Document: r.DocumentID, Version: r.Version}
}

func (r *versionRow) version() (Version, error) {
	v := Version{
		VersionRef: r.ref(), RunID: r.RunID, Begun: r.Begun, Status: knowledge.Status(r.Status), Stage: knowledge.Stage(r.Stage),
		Name: r.Name, MediaType: r.MediaType, Language: r.Language, SourceKey: r.SourceKey, SourceURL: r.SourceURL,
		Bytes: r.Bytes, ChunkCount: r.ChunkCount, PageCount: r.PageCount, Classification: r.Classification,
		Removing: r.Version <= r.RemovingUpto, Blocked: r.RemovingUpto > 0 && r.Version > r.RemovingUpto,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
		DocumentCreatedAt: fromMicros(r.DocumentCreatedAt), ExternalID: r.ExternalID, SealedPassword: r.Password, HadPassword: r.HadPassword,
		ExternalUserID: r.ExternalUserID, ConversationID: r.ConversationID, Reindex: r.ParentRun, UploadedBy: r.UploadedBy,
	}
	err := decode(
		field{r.Tags, &v.Tags}, field{r.Metadata, &v.Metadata}, field{r.Subjects, &v.Subjects}, field{r.Splitter, &v.Splitter}, field{r.Override, &v.Override}, field{r.Enrichment, &v.Enrichment}, field{r.Error, &v.Error},
		field{r.Access, &v.Access}, field{r.Warnings, &v.Warnings},
	)
	if err == nil {
		v.ACL, err = r.acl(r.Workspace)
	}
	if err != nil {
		return v, fmt.Errorf("decode version %d of document %s: %w", r.Version, r.DocumentID, err)
	}
	return v, nil
}

// oneVersion is the statement of loadVersion.
var oneVersion = "SELECT " + versionTable.list() + `, d.removing_upto, d.published_version, d.created_at, d.external_id, ` + webhooksOf + `
FROM document_versions AS v JOIN documents AS d ON d.id = v.document_id
WHERE v.document_id = ? AND v.version = ? AND v.workspace = ? AND v.project = ?`

// loadVersion reads a version with its document, or returns that it is not found.
func loadVersion(ctx context.Context, db querier, ref knowledge.VersionRef, row *versionRow) error {
	targets := append(versionTable.targets(row), &row.RemovingUpto, &row.PublishedVersion, &row.DocumentCreatedAt, &row.ExternalID, &row.Webhooks)
	there, err := first(ctx, db, targets, oneVersion, ref.Document, ref.Version, ref.Workspace, ref.Project)
	if err == nil && !there {
		err = knowledge.Errorf(knowledge.CodeNotFound, "no version %d of document %q", ref.Version, ref.Document)
	}
	return err
}

// Version returns one version of a document; not found once it was removed.
func (s *versionStore) Version(ctx context.Context, ref knowledge.VersionRef) (Version, error) {
	return readVersion(ctx, s.reader, ref)
}

func readVersion(ctx context.Context, db querier, ref knowledge.VersionRef) (Version, error) {
	var row versionRow
	if err := loadVersion(ctx, db, ref, &row); err != nil {
		return Version{}, fmt.Errorf("read version %d of document %s: %w", ref.Version, ref.Document, failure(err))
	}
	return row.version()
}

// PendingQuery asks for a page of the versions that wait for their ingestion.
type PendingQuery struct {
	Begun  *bool     // nil = both those that a run has begun and those that none has
	Before time.Time // last changed before, zero = at any time
	After  Position  // of the last one of the page before; zero = the first page
	Limit  int
}

// PendingVersions lists versions that wait for their ingestion, the one that
// was changed the longest ago first. A version that is being removed, and one that an
// import has claimed, are left out.
func (s *versionStore) PendingVersions(ctx context.Context, query PendingQuery) ([]Version, error) {
	var rows []versionRow
	q := selectVersions(s.reader, &rows).ColumnExpr("COALESCE((SELECT r.parent FROM runs AS r WHERE r.id = v.run_id), '') AS parent_run").
		Where("v.status = 'pending' AND v.updated_at < ? AND v.version > d.removing_upto", bound(query.Before)).
		Where("NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.id = v.run_id AND r.kind = ?)", knowledge.KindImport).
		Where("(v.updated_at, v.document_id, v.version) > (?, ?, ?)", micros(query.After.At), query.After.ID, query.After.Version)
	if query.Begun != nil {
		q = q.Where("v.begun = ?", *query.Begun)
	}
	if err := q.OrderExpr("v.updated_at, v.document_id, v.version").Limit(int64(query.Limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list pending versions: %w", failure(err))
	}
	return decodeRows(rows, (*versionRow).version)
}

// Position is where a page of PendingVersions or RunningRuns ended.
type Position struct {
	At      time.Time
	ID      string
	Version int // of a document
}

// Position returns the version's place in PendingVersions.
func (v Version) Position() Position {
	return Position{At: v.UpdatedAt, ID: v.Document, Version: v.Version}
}
