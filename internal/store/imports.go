package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// importStore has the imports.
type importStore struct {
	*database
	versions *versionStore
}

// ImportRequest is what an import is asked to do.
type ImportRequest struct {
	Source source.Spec `json:"source"`
	// Archive is the blob key of the zip that was uploaded for the import, "" for
	// none.
	Archive        string            `json:"archive,omitempty"`
	Include        []string          `json:"include,omitempty"` // patterns of keys; none = all
	Exclude        []string          `json:"exclude,omitempty"`
	Tags           []string          `json:"tags,omitempty"`
	Metadata       map[string]any    `json:"metadata,omitempty"`
	Rules          []ImportRule      `json:"rules,omitempty"`
	Access         *knowledge.Access `json:"access,omitempty"`
	Classification *string           `json:"classification,omitempty"`
	Subjects       []string          `json:"subjects,omitempty"` // the people whom its documents are about
	Parser         knowledge.Parser  `json:"parser,omitempty"`   // of the objects whose format has pages
	RemoveVanished bool              `json:"remove_vanished,omitempty"`
	// Sync is the sync whose run the import is, "" for none. Mirror carries the rights of
	// the objects over.
	Sync   string `json:"sync,omitempty"`
	Mirror bool   `json:"mirror,omitempty"`
	// Fresh says that a run of the sync was completed before: this one brings what changed since.
	Fresh  bool `json:"fresh,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
	// Limits, Accounts and Enrichment are those when the import started, and
	// ParserEnrichment is for an object to which Parser applies.
	Limits           knowledge.LimitsConfig      `json:"limits,omitzero"`
	Accounts         []knowledge.Account         `json:"accounts,omitempty"` // whose documents they become
	Enrichment       knowledge.VersionEnrichment `json:"enrichment,omitzero"`
	ParserEnrichment knowledge.VersionEnrichment `json:"parser_enrichment,omitzero"`
}

// ImportRule adds tags and metadata to the objects whose keys match a pattern.
type ImportRule struct {
	Match    string         `json:"match"`
	Tags     []string       `json:"tags,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Import is a bulk import.
type Import struct {
	knowledge.ImportRef
	Number    int64 // later imports have higher ones
	Source    int64 // the same for all imports of a source into a project
	RunID     string
	Owner     string
	Status    knowledge.ImportStatus
	Request   ImportRequest
	Splitter  knowledge.Splitter // of the project when the import started
	Listed    bool               // all objects of the source are discovered
	Counts    knowledge.ImportCounts
	Active    time.Duration            // that it has worked
	Waiting   *knowledge.ImportWaiting // nil = no step of it waits for its provider
	Error     *knowledge.Failure
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero = it has not ended
}

// Open reports whether the import has not ended.
func (i Import) Open() bool {
	return i.Status.Open()
}

type importRow struct {
	bun.BaseModel `bun:"table:imports,alias:i"`
	Number        int64                  `bun:"number,pk"`
	ID            string                 `bun:"id"`
	Workspace     string                 `bun:"workspace"`
	Project       string                 `bun:"project"`
	SourceID      int64                  `bun:"source_id"`
	RunID         string                 `bun:"run_id"`
	Owner         string                 `bun:"owner"`
	Status        knowledge.ImportStatus `bun:"status"`
	Request       string                 `bun:"request"`
	Splitter      string                 `bun:"splitter"`
	Listed        bool                   `bun:"listed"`
	Discovered    int64                  `bun:"discovered"`
	Published     int64                  `bun:"published"`
	Skipped       int64                  `bun:"skipped"`
	Failed        int64                  `bun:"failed"`
	Vanished      int64                  `bun:"vanished"`
	Deleted       int64                  `bun:"deleted"`
	Bytes         int64                  `bun:"bytes"`
	Active        int64                  `bun:"active"`
	Error         string                 `bun:"error"`
	CreatedAt     int64                  `bun:"created_at"`
	UpdatedAt     int64                  `bun:"updated_at"`
	EndedAt       int64                  `bun:"ended_at"`
}

func (r *importRow) value() (Import, error) {
	i := Import{
		ImportRef: knowledge.ImportRef{Workspace: r.Workspace, Project: r.Project, Import: r.ID}, Number: r.Number, Source: r.SourceID,
		RunID: r.RunID, Owner: r.Owner, Status: r.Status, Listed: r.Listed, Active: time.Duration(r.Active) * time.Microsecond,
		Counts: knowledge.ImportCounts{
			Discovered: r.Discovered, Published: r.Published, Skipped: r.Skipped, Failed: r.Failed,
			Vanished: r.Vanished, Deleted: r.Deleted, Bytes: r.Bytes,
		},
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt), EndedAt: fromMicros(r.EndedAt),
	}
	if err := decode(field{r.Request, &i.Request}, field{r.Splitter, &i.Splitter}, field{r.Error, &i.Error}); err != nil {
		return i, fmt.Errorf("decode import %s: %w", r.ID, err)
	}
	return i, nil
}

// importTable are the imports, for statements that are prepared once.
var importTable = tableOf[importRow]()

// loadImport reads an import of a workspace, or returns that it is not found.
func loadImport(ctx context.Context, db querier, workspace, id string, row *importRow) error {
	there, err := importTable.first(ctx, db, row, "i.id = ? AND i.workspace = ?", id, workspace)
	if err == nil && !there {
		err = knowledge.NotFound("import", id)
	}
	return err
}

// ImportForSystem returns an import without a check of permission, for workers.
func (s *importStore) ImportForSystem(ctx context.Context, ref knowledge.ImportRef) (Import, error) {
	var row importRow
	if err := loadImport(ctx, s.reader, ref.Workspace, ref.Import, &row); err != nil {
		return Import{}, fmt.Errorf("read import %s: %w", ref.Import, failure(err))
	}
	i, err := row.value()
	if err == nil {
		err = s.addWaiting(ctx, &i)
	}
	return i, err
}

// Import returns an import. Managing imports needs the write scope.
func (s *importStore) Import(ctx context.Context, p knowledge.Principal, id string) (Import, error) {
	if err := requireWrite(p); err != nil {
		return Import{}, err
	}
	i, err := s.ImportForSystem(ctx, knowledge.ImportRef{Workspace: p.Workspace(), Import: id})
	if err == nil && !p.CoversProject(i.Project) {
		err = knowledge.NotFound("import", id)
	}
	if err != nil {
		return Import{}, err
	}
	return i, nil
}

// ImportFilter chooses imports.
type ImportFilter struct {
	Project string // "" = those of all projects
	Sync    string // "" = also those that are no runs of a sync
}

// Imports lists imports, newest first.
func (s *importStore) Imports(ctx context.Context, p knowledge.Principal, f ImportFilter, page Page) ([]Import, string, error) {
	if err := requireWrite(p); err != nil {
		return nil, "", err
	}
	var rows []importRow
	q := within(s.reader.NewSelect().Model(&rows), "i", p)
	if f.Project != "" {
		q = q.Where("i.project = ?", f.Project)
	}
	if f.Sync != "" {
		q = q.Where("i.source_id IN (SELECT s.id FROM import_sources AS s WHERE s.workspace = ? AND s.name = ?)", p.Workspace(), SyncSource(f.Sync))
	}
	q, limit, err := newestFirst(q, "i", "imports", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list imports: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r importRow) position { return position{List: "imports", Order: r.CreatedAt, ID: r.ID} })
	list, err := decodeRows(rows, (*importRow).value)
	for n := range list {
		if err == nil {
			err = s.addWaiting(ctx, &list[n])
		}
	}
	return list, cursor, err
}

// ImportFailure is an object that an import could not import.
type ImportFailure struct {
	Key        string
	DocumentID string
	Object     []byte // JSON of the object, for its source
	Error      knowledge.DocumentError
	At         time.Time
}

type importFailureRow struct {
	bun.BaseModel `bun:"table:import_failures,alias:f"`
	Import        int64  `bun:"import,pk"`
	Key           string `bun:"key,pk"`
	DocumentID    string `bun:"document_id"`
	Version       int    `bun:"version"`
	ETag          string `bun:"etag"`
	Fingerprint   string `bun:"fingerprint"`
	Object        string `bun:"object"`
	Error         string `bun:"error"`
	CreatedAt     int64  `bun:"created_at"`
}

var importFailureTable = tableOf[importFailureRow]()

func (r *importFailureRow) failure() (ImportFailure, error) {
	f := ImportFailure{Key: r.Key, DocumentID: r.DocumentID, Object: []byte(r.Object), At: fromMicros(r.CreatedAt)}
	if err := decode(field{r.Error, &f.Error}); err != nil {
		return f, fmt.Errorf("decode the failure of %s: %w", r.Key, err)
	}
	return f, nil
}

// ImportFailures lists the objects that failed, in the order of their keys.
func (s *importStore) ImportFailures(ctx context.Context, p knowledge.Principal, id string, page Page) ([]ImportFailure, string, error) {
	i, err := s.Import(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	list := "failures-" + i.Import
	limit, err := page.limit(defaultLimit)
	if err != nil {
		return nil, "", err
	}
	at, _, err := page.after(list)
	if err != nil {
		return nil, "", err
	}
	rows, err := importFailureTable.all(ctx, s.reader, `f.import = ?1 AND f.key > ?2 AND NOT EXISTS (
		SELECT 1 FROM import_objects AS o WHERE o.source_id = ?3 AND o.key = f.key AND o.import = f.import AND o.outcome = 'retrying')
		ORDER BY f.key LIMIT ?4`, i.Number, at.ID, i.Source, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list failures of import %s: %w", id, failure(err))
	}
	rows, cursor := next(rows, limit, func(r importFailureRow) position { return position{List: list, ID: r.Key} })
	failures, err := decodeRows(rows, (*importFailureRow).failure)
	return failures, cursor, err
}
