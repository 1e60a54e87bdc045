package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// startPatience bounds the start of a workflow.
const startPatience = 10 * time.Second

// Deps is what a Starter works with. All fields are required, and safe for concurrent
// use.
type Deps struct {
	Store     Store
	Blobs     Blobs
	Workflows Workflows
	Sources   Sources
	Secrets   Secrets
	Log       *slog.Logger
	Now       func() time.Time
	Levels    knowledge.Levels // of classification
}

// Store is the part of the database that imports start and end in. Things that a principal
// may not see are CodeNotFound.
type Store interface {
	// StartImport inserts an import and its run. An import that the same owner
	// started before is returned as it is; a source that is being imported is
	// CodeConflict.
	StartImport(ctx context.Context, p knowledge.Principal, n store.NewImport) (store.Import, error)
	// RetryImport opens an import again, with a run that retries what failed.
	RetryImport(ctx context.Context, p knowledge.Principal, id, runID string, now time.Time) (store.Import, error)
	// Import returns an import.
	Import(ctx context.Context, p knowledge.Principal, id string) (store.Import, error)
	// HeldImports lists the running imports that have steps that wait.
	HeldImports(ctx context.Context, p knowledge.Principal, project, id string, code knowledge.Code) ([]store.HeldImport, error)
	// Run returns a run.
	Run(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
	// EndRun stores how a run ended. The first end counts.
	EndRun(ctx context.Context, workspace, id string, end store.RunEnd) error
}

// Blobs holds uploaded archives.
type Blobs interface {
	// PutReader stores what r has left under key, durably when it returns.
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// Delete deletes what is under key; deleting nothing is fine.
	Delete(ctx context.Context, key string) error
}

// Workflows reaches the workflows of imports.
type Workflows interface {
	// Import starts the run of an import. Doing it twice changes nothing.
	Import(ctx context.Context, i store.Import) error
	// PauseImport asks a run to pause or to resume; known is false if it has no
	// workflow.
	PauseImport(ctx context.Context, i store.Import, paused bool) (known bool, err error)
	// ReleaseImport ends the waits of an import's steps for a provider that limits requests.
	// With now the provider is asked at once.
	ReleaseImport(ctx context.Context, held store.HeldImport, now bool) error
	// CancelRun asks a run to stop; known is false if it has no workflow.
	CancelRun(ctx context.Context, r store.Run) (known bool, err error)
}

// Sources checks the sources of requests.
type Sources interface {
	// Check refuses a source that cannot be opened. It dials nothing.
	Check(source.Spec) error
}

// Secrets knows which secrets imports may use.
type Secrets interface {
	// Usable reports whether a project may use a secret. One that it may not use is as one
	// that does not exist.
	Usable(ctx context.Context, name string, n knowledge.SecretNeed) (bool, error)
	// AmbientIdentity reports whether imports of a workspace may use the server's own cloud
	// identity.
	AmbientIdentity(workspace string) bool
}

// Starter starts imports. It is safe for concurrent use.
type Starter struct {
	deps Deps
}

// New returns a Starter.
func New(deps Deps) *Starter { return &Starter{deps: deps} }

// Start checks a request, puts the import on record and starts its run, whose id is that
// of the import. A run that cannot be started now is started later: that is no error.
func (s *Starter) Start(ctx context.Context, p knowledge.Principal, project knowledge.Project, id string, r store.ImportRequest) (store.Import, error) {
	if err := s.Check(ctx, project, r); err != nil {
		return store.Import{}, err
	}
	if err := quota.CheckDay(ctx, p, project.ID); err != nil {
		return store.Import{}, err
	}
	accounts, err := quota.Accounts(ctx, p, project.ID)
	if err != nil {
		return store.Import{}, err
	}
	r.Accounts = accounts
	r.Limits, r.Enrichment = project.Config.Limits, knowledge.Override{}.EnrichmentIn(project.Config)
	if r.Parser == knowledge.ParserModel {
		r.ParserEnrichment = knowledge.Override{Parser: r.Parser}.EnrichmentIn(project.Config)
	}
	i, err := s.deps.Store.StartImport(ctx, p, store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: project.Workspace, Project: project.ID, Import: id}, RunID: id,
		SourceName: selection.SourceName(r.Source), Request: r, Splitter: project.Config.WithDefaults().AI.Splitter, Now: s.deps.Now(),
	})
	if err != nil {
		return i, fmt.Errorf("start import: %w", err)
	}
	s.start(ctx, i)
	return i, nil
}

// Check returns what is wrong with a request of a project. Start does it too.
func (s *Starter) Check(ctx context.Context, project knowledge.Project, r store.ImportRequest) error {
	wrong := selection.Fields(r)
	if r.Classification != nil {
		wrong = append(wrong, s.deps.Levels.Fields("body.classification", *r.Classification)...)
	}
	if err := s.checkCredentials(ctx, project.Workspace, project.ID, r.Source); err != nil {
		if !knowledge.IsCode(err, knowledge.CodeInvalid) {
			return err
		}
		wrong = append(wrong, knowledge.AsError(err).Fields...)
	}
	if err := knowledge.InvalidFields(wrong); err != nil {
		return err
	}
	if r.Archive != "" {
		return nil
	}
	if u, err := url.Parse(r.Source.URI); r.Source.Type == source.TypeZip && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
		return knowledge.Invalid("body.source.uri", "must be the http or https address of a zip; upload a file to projects/{id}/files instead")
	}
	if err := s.deps.Sources.Check(r.Source); err != nil {
		return fmt.Errorf("check source: %w", err)
	}
	return nil
}

// checkCredentials refuses a source whose credentials the project may not use.
func (s *Starter) checkCredentials(ctx context.Context, workspace, project string, spec source.Spec) error {
	if spec.NeedsIdentity() && !s.deps.Secrets.AmbientIdentity(workspace) {
		return source.NoIdentity(workspace)
	}
	if spec.Secret == "" {
		return nil
	}
	need := knowledge.SecretNeed{Workspace: workspace, Project: project, Use: knowledge.SecretInImport, Host: spec.CredentialHost()}
	usable, err := s.deps.Secrets.Usable(ctx, spec.Secret, need)
	if err == nil && !usable {
		err = knowledge.InvalidFields([]knowledge.Field{{Location: "body.source.secret", Message: knowledge.NoSecret(need)}})
	}
	return err
}

// start starts a run. The import is on record, so the sweep repeats a start that fails.
func (s *Starter) start(ctx context.Context, i store.Import) {
	if !i.Open() { // a repeated request, after its end
		return
	}
	log := s.deps.Log.With("workspace", i.Workspace, "import", i.Import, "run", i.RunID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	if err := s.deps.Workflows.Import(ctx, i); err != nil {
		log.WarnContext(ctx, "import starts later", "error", err)
		return
	}
	log.InfoContext(ctx, "import started")
}

// Retry opens an import that has ended again, and retries what failed. Its credentials must
// still be allowed.
func (s *Starter) Retry(ctx context.Context, p knowledge.Principal, id, run string) (store.Import, error) {
	i, err := s.deps.Store.Import(ctx, p, id)
	if err != nil {
		return i, fmt.Errorf("read import %s: %w", id, err)
	}
	if i.Waiting != nil { // what waits for its next try is retried too
		_, err := s.Release(ctx, p, Held{Import: id})
		return i, err
	}
	if err := s.checkCredentials(ctx, i.Workspace, i.Project, i.Request.Source); err != nil {
		return i, err
	}
	i, err = s.deps.Store.RetryImport(ctx, p, id, run, s.deps.Now())
	if err != nil {
		return i, err
	}
	s.start(ctx, i)
	return i, nil
}

// Held chooses steps of imports that wait until their provider takes requests again; "" is
// any project, import and code.
type Held struct {
	Project, Import string
	Code            knowledge.Code
	CountOnly       bool // they go on waiting
}

// Release makes the steps of running imports that wait for their provider try at once, and
// returns how many documents wait for them.
func (s *Starter) Release(ctx context.Context, p knowledge.Principal, h Held) (documents int, err error) {
	list, err := s.deps.Store.HeldImports(ctx, p, h.Project, h.Import, h.Code)
	if err != nil {
		return 0, err
	}
	for _, held := range list {
		if documents += int(held.Objects); h.CountOnly {
			continue
		}
		if err := s.deps.Workflows.ReleaseImport(ctx, held, true); err != nil {
			return documents, err
		}
	}
	return documents, nil
}

// Pause asks an import to pause, or to resume. One that has ended is CodeConflict.
func (s *Starter) Pause(ctx context.Context, p knowledge.Principal, id string, paused bool) (store.Import, error) {
	i, err := s.open(ctx, p, id)
	if err != nil {
		return i, err
	}
	known, err := s.deps.Workflows.PauseImport(ctx, i, paused)
	if err == nil && !known { // a crash came before its start
		if err = s.deps.Workflows.Import(ctx, i); err == nil {
			_, err = s.deps.Workflows.PauseImport(ctx, i, paused)
		}
	}
	if err == nil && !paused {
		_, err = s.Release(ctx, p, Held{Import: id})
	}
	if err != nil {
		return i, err
	}
	return s.deps.Store.Import(ctx, p, id)
}

// Cancel asks an import to stop. One that has ended is CodeConflict.
func (s *Starter) Cancel(ctx context.Context, p knowledge.Principal, id string) (store.Import, error) {
	i, err := s.open(ctx, p, id)
	if err != nil {
		return i, err
	}
	run, err := s.deps.Store.Run(ctx, p, i.RunID)
	if err != nil {
		return i, fmt.Errorf("read run %s: %w", i.RunID, err)
	}
	known, err := s.deps.Workflows.CancelRun(ctx, run)
	if err == nil && !known { // a crash came before its start
		end := record.Canceled(knowledge.KindImport)
		err = s.deps.Store.EndRun(ctx, i.Workspace, i.RunID, end.RunEnd("", s.deps.Now()))
	}
	if err != nil {
		return i, err
	}
	return s.deps.Store.Import(ctx, p, id)
}

func (s *Starter) open(ctx context.Context, p knowledge.Principal, id string) (store.Import, error) {
	i, err := s.deps.Store.Import(ctx, p, id)
	if err != nil {
		return i, fmt.Errorf("read import %s: %w", id, err)
	}
	if !i.Open() {
		return i, knowledge.Errorf(knowledge.CodeConflict, "import %q has ended: it is %s", id, i.Status)
	}
	return i, nil
}

// StoreArchive stores an uploaded archive for an import that starts next.
func (s *Starter) StoreArchive(ctx context.Context, ref knowledge.ImportRef, r io.Reader) (key string, err error) {
	key = ref.ArchiveKey()
	if _, err := s.deps.Blobs.PutReader(ctx, key, r); err != nil {
		return "", fmt.Errorf("store an archive: %w", err)
	}
	return key, nil
}

// DropArchive deletes an archive whose import was refused. After an error that leaves
// open whether an import has it, it stays.
func (s *Starter) DropArchive(ctx context.Context, key string, refusal error) {
	e, ok := errors.AsType[*knowledge.Error](refusal)
	if key == "" || !ok || e.Code == knowledge.CodeInternal || e.Code == knowledge.CodeUnavailable {
		return
	}
	if err := s.deps.Blobs.Delete(context.WithoutCancel(ctx), key); err != nil {
		s.deps.Log.WarnContext(ctx, "delete a refused archive", "key", key, "error", err)
	}
}
