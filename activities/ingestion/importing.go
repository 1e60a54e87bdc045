package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of imports in one process. They leave room for uploads and questions.
const (
	readsAtATime  = 8  // objects of a batch that are opened at the same time
	parsesAtATime = 1  // processes that parse small texts of all imports
	textsPerParse = 16 // small texts that are parsed before uploads have their turn
)

// ImportDependencies are what imports use beside the steps of documents.
type ImportDependencies struct {
	Imports   Imports
	Sources   *ImportSources
	Workflows ImportWorkflows
	// LargeAtATime is how many large objects of all imports are parsed at the same
	// time. It is below the number of parsers, so that uploads find one free.
	// Defaults to 1.
	LargeAtATime int
	// Foreground is what batches give way to. Defaults to nothing.
	Foreground *Foreground
	// Syncs starts the runs of syncs. Defaults to none.
	Syncs Syncs
	Log   *slog.Logger
}

// Importing holds the activities of BulkImport and ImportPage.
type Importing struct {
	ImportDependencies

	documents    documentSteps
	importBounds importBounds
}

// documentSteps are the steps of documents that an import takes, for many at a time.
type documentSteps struct {
	Config     Config
	Blobs      step.Blobs
	Versions   Versions
	Runs       step.RunEnds
	Index      Index
	Attributes *Attributes
	SmallTexts TextExtractor
	Embedder   Embedder
	Metrics    Metrics

	ender       step.RunEnder
	cuts        *cuts
	vectors     *vectors
	generations *generations
	batches     *batches
	scanning    *scanning
	cutting     *cutting
	extracting  *Extracting
	pictures    *ReadingPictures
	enriching   *Enriching
	publishing  *Publishing
	retiring    *Retiring
}

// Imports is the part of the store that imports change. Every method may be called
// again after an error or a crash: it counts nothing twice.
type Imports interface {
	// ImportForSystem returns an import; CodeNotFound if there is none.
	ImportForSystem(ctx context.Context, ref knowledge.ImportRef) (store.Import, error)
	// SetImportStatus stores that an import is paused or running, unless it has ended.
	SetImportStatus(ctx context.Context, ref knowledge.ImportRef, status knowledge.ImportStatus) error
	// SetImportWait stores that a step waits until its provider takes requests again, or
	// that it waits no more.
	SetImportWait(ctx context.Context, i store.Import, w store.ImportWait) error
	// ImportPage returns a page that is stored; there is false if it is not.
	ImportPage(ctx context.Context, i store.Import, page int) (p store.ImportPage, there bool, err error)
	// AddImportPage stores a page and its objects, and decides which of them are
	// unchanged. late are objects of earlier pages that are imported again.
	AddImportPage(ctx context.Context, i store.Import, page store.ImportPage, list, late []store.ListedObject) (store.ImportPage, error)
	// ImportedObjects returns those objects that were listed before.
	ImportedObjects(ctx context.Context, i store.Import, keys []string) (map[string]store.ImportedObject, error)
	// PutSidecars stores descriptions of objects, and ImportSidecars returns them.
	PutSidecars(ctx context.Context, i store.Import, list []store.Sidecar) error
	ImportSidecars(ctx context.Context, i store.Import, keys []string) (map[string]store.Sidecar, error)
	// ClaimVersions inserts the next versions of documents, which this import alone
	// publishes. What an earlier try has claimed and not published it claims again.
	ClaimVersions(ctx context.Context, list []store.NewVersion, limits knowledge.LimitsConfig) ([]store.ImportClaim, error)
	// RecordImported publishes versions and stores failures, in one transaction, while
	// their claims hold, and returns what is to be cleaned up.
	RecordImported(ctx context.Context, i store.Import, r store.ImportRecord) (store.Recorded, error)
	// CountVanished counts the objects that are no longer listed, and MarkVanished
	// starts the removal of their documents, part by part.
	// full reports that everything was listed.
	CountVanished(ctx context.Context, i store.Import, full bool) (int64, error)
	MarkVanished(ctx context.Context, i store.Import, full bool, after string) (store.VanishedPage, error)
	FollowedImports
	// FailedObjects returns the next failed objects, MarkRetried stores that one is
	// retried, and SettleRetried what became of all that were.
	FailedObjects(ctx context.Context, i store.Import, after string, limit int) ([]store.ImportFailure, error)
	MarkRetried(ctx context.Context, i store.Import, o store.RetriedObject) error
	SettleRetried(ctx context.Context, i store.Import) (left int, err error)
	// ImportLost reports whether a document of the source was removed, or an object rejected by
	// the malware scanner.
	ImportLost(ctx context.Context, ref knowledge.ImportRef) (bool, error)
	// HasRoom reports whether the project may have a version of a document.
	HasRoom(ctx context.Context, i store.Import, document string, limit int) (bool, error)
	// AddVersion inserts the next version of a document, with its run. A run that
	// exists is CodeConflict.
	AddVersion(ctx context.Context, v store.NewVersion) (knowledge.Document, store.Version, error)
}

// ImportWorkflows starts the workflows of documents, and looks for the workflows of pages.
type ImportWorkflows interface {
	// Ingest starts the ingestion of a version. Doing it twice changes nothing.
	Ingest(ctx context.Context, v store.Version) error
	// Remove starts a removal. Doing it twice changes nothing.
	Remove(ctx context.Context, r store.Removal) error
	// Running reports whether a workflow is open, and whether Temporal knows one of
	// that id.
	Running(ctx context.Context, workflowID string) (running, known bool, err error)
}

// importBounds limits what the imports of one process do at the same time.
type importBounds struct {
	once   sync.Once
	parses *semaphore.Weighted // small texts
	large  *semaphore.Weighted // large objects

	// A process has one writer of each database. They work side by side, on different
	// groups of documents.
	rows    *semaphore.Weighted // groups that are claimed or published in SQL
	entries *semaphore.Weighted // groups that are written into the index
}

// limits returns the bounds of the process, which the first call sets up.
func (a *Importing) limits() *importBounds {
	b := &a.importBounds
	b.once.Do(func() {
		b.parses, b.large = semaphore.NewWeighted(parsesAtATime), semaphore.NewWeighted(int64(max(a.LargeAtATime, 1)))
		b.rows, b.entries = semaphore.NewWeighted(1), semaphore.NewWeighted(1)
	})
	return b
}

// withSlot runs work when one of the slots is free.
func withSlot(ctx context.Context, slots *semaphore.Weighted, work func() error) error {
	if err := slots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer slots.Release(1)
	return work()
}

// fail returns the error of an import's step that enters history.
func (a *Importing) fail(ctx context.Context, ref knowledge.ImportRef, err error) error {
	return step.Failure(ctx, a.Log.With("workspace", ref.Workspace, "import", ref.Import), err)
}

// opened is an import whose source is open.
type opened struct {
	store.Import
	source  source.Source
	release func()
}

// open reads an import and opens its source. The caller calls release.
func (a *Importing) open(ctx context.Context, ref knowledge.ImportRef) (opened, error) {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err != nil {
		return opened{}, fmt.Errorf("read import: %w", err)
	}
	s, release, err := a.Sources.Open(ctx, i)
	if err != nil {
		return opened{}, fmt.Errorf("open the source: %w", err)
	}
	return opened{Import: i, source: s, release: release}, nil
}
