package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// BatchInput names the objects [First, Last) of a page, counting only objects that are to be
// imported.
type BatchInput struct {
	knowledge.ImportRef
	Run   string `json:"run"`
	Page  int    `json:"page"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	StepTurn
}

// BatchResult names the objects that take long, by their places in the page.
type BatchResult struct {
	Large []int `json:"large,omitempty"`
}

// ImportBatch imports some objects of a page: it reads and cuts them, embeds their
// chunks together, and publishes them in few transactions. An object that fails gets
// its failure, and does not hold up the others. Objects that take long are left for
// ImportLarge. A repetition imports only what has no outcome.
func (a *Importing) ImportBatch(ctx context.Context, in BatchInput) (BatchResult, error) {
	defer step.Heartbeat(ctx)()
	var result BatchResult
	b, err := a.openBatch(ctx, in.ImportRef, in.Run, in.Page)
	if err != nil {
		return BatchResult{}, a.fail(ctx, in.ImportRef, err)
	}
	defer b.release()
	b.turn = in.StepTurn
	result.Large, err = b.run(ctx, in.First, in.Last)
	if err == nil {
		err = a.endWait(ctx, b, batchStep(in.First))
	}
	if err != nil {
		return BatchResult{}, a.failStep(ctx, b, batchStep(in.First), err)
	}
	return result, nil
}

// sourceTries is how often a batch is tried whose objects the source does not deliver.
// After that these objects have failed.
const sourceTries = 5

// importBatch is a batch of an import.
type importBatch struct {
	opened
	a        *Importing
	runID    string
	page     int
	chosen   selection.Selection
	manifest pageManifest
	lastTry  bool          // what the source does not deliver now has failed
	patience time.Duration // how long it may still give way
	turn     StepTurn
	waiting  int // objects without an outcome

	spent knowledge.Usage // and not recorded yet
}

// giveWay blocks while somebody asks or uploads.
func (b *importBatch) giveWay(ctx context.Context) {
	b.patience = b.a.Foreground.GiveWay(ctx, b.patience)
}

func (a *Importing) openBatch(ctx context.Context, ref knowledge.ImportRef, run string, page int) (*importBatch, error) {
	i, err := a.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	b := &importBatch{
		opened: i, a: a, runID: run, page: page, chosen: selection.New(i.Request), lastTry: activity.GetInfo(ctx).Attempt >= sourceTries,
		patience: batchPatience,
	}
	if b.manifest, err = a.manifest(ctx, i.Import, page); err != nil {
		i.release()
		return nil, err
	}
	return b, nil
}

// importItem is an object while it is imported.
type importItem struct {
	place       int // in the manifest
	object      source.Object
	report      privacy.Report // of its personal data
	listedTag   bool           // the listing states the etag
	known       string         // etag of the bytes that the published version has, "" = none that counts
	sidecar     *store.Sidecar
	attributes  selection.Attributes
	fingerprint string
	data        []byte
	mediaType   string
	facts       store.Facts
	chunks      []knowledge.Chunk
	existed     bool // the document may have other versions
	of          knowledge.Generations
	embedded    []itemVectors // of each generation
	state       itemState
	err         error // of a failed item, or of one that waits
	stage       knowledge.Stage
}

func newImportItem(listed source.Object) *importItem {
	return &importItem{object: listed, listedTag: listed.ETag != "" && hashOf(listed.ETag) == ""}
}

// itemVectors are the vectors of a generation of an item.
type itemVectors struct {
	generation string
	part       *part // names the windows that hold the vectors
	vectors    [][]float32
}

// itemState is what a batch found out about an object.
type itemState int

// The states of an item.
const (
	itemReady   itemState = iota // it is a small text, and read
	itemSkipped                  // it is unchanged
	itemLarge                    // it takes long
	itemFailed                   // it cannot be imported
	itemWaits                    // the source does not deliver it now
)

// run imports the objects [first, last), and returns the places of those that take
// long.
func (b *importBatch) run(ctx context.Context, first, last int) (large []int, err error) {
	items, err := b.pending(ctx, b.manifest.Todo[min(first, len(b.manifest.Todo)):min(last, len(b.manifest.Todo))])
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if items, err = b.follow(ctx, items); err != nil || len(items) == 0 {
		return nil, err
	}
	b.waiting = len(items)
	if err := b.look(ctx); err != nil {
		return nil, err
	}
	if err := b.readAll(ctx, items); err != nil {
		return nil, err
	}
	if err := b.cutAll(ctx, items); err != nil {
		return nil, err
	}
	if err := b.embed(ctx, items); err != nil {
		return nil, err
	}
	if err := b.write(ctx, items); err != nil {
		return nil, err
	}
	for _, it := range items {
		switch it.state {
		case itemLarge:
			large = append(large, it.place)
		case itemWaits:
			return nil, it.err // the others have their outcome
		}
	}
	return large, nil
}

// pending returns the objects at these places that have no outcome. Of the
// others, it completes the publication.
func (b *importBatch) pending(ctx context.Context, places []int) ([]*importItem, error) {
	keys := make([]string, 0, len(places))
	for _, place := range places {
		keys = append(keys, b.manifest.Objects[place].Key)
	}
	rows, err := b.a.Imports.ImportedObjects(ctx, b.Import, keys)
	if err != nil {
		return nil, err
	}
	sidecars, err := b.a.Imports.ImportSidecars(ctx, b.Import, keys)
	if err != nil {
		return nil, err
	}
	var items []*importItem
	for n, key := range keys {
		row := rows[key]
		if row.Import != b.Number || row.Page != b.page {
			continue
		}
		if row.Published > 1 { // a process died before it had deleted what this version replaces
			ref := knowledge.VersionRef{Workspace: b.Workspace, Project: b.Project, Document: row.DocumentID, Version: row.Published}
			if err := b.retire(ctx, []knowledge.VersionRef{ref}); err != nil {
				return nil, err
			}
		}
		if !row.Pending {
			continue
		}
		it := newImportItem(b.manifest.Objects[places[n]])
		it.place, it.existed = places[n], row.ETag != "" || row.Alive
		if c, described := sidecars[key]; described {
			it.sidecar = &c
		}
		it.fingerprint = fingerprint(b.Import, b.chosen, it.object, sidecars[key].ETag)
		if row.Alive && row.Fingerprint == it.fingerprint {
			it.known = row.ETag
		}
		items = append(items, it)
	}
	return items, nil
}

// readAll reads objects, several at the same time. Its error is the batch's; an
// error of one object becomes its state.
func (b *importBatch) readAll(ctx context.Context, items []*importItem) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readsAtATime)
	for _, it := range items {
		b.giveWay(ctx)
		group.Go(func() error { return b.settle(ctx, it, b.read(ctx, it)) })
	}
	return group.Wait()
}

// cutAll extracts small texts and cuts them into chunks. Its error is the
// batch's, as for readAll.
func (b *importBatch) cutAll(ctx context.Context, items []*importItem) error {
	var texts []*importItem
	for _, it := range items {
		if it.state == itemReady {
			texts = append(texts, it)
		}
	}
	for part := range slices.Chunk(texts, textsPerParse) {
		b.giveWay(ctx)
		layouts, failed, err := b.extract(ctx, part)
		if err != nil {
			return err
		}
		for n, it := range part {
			it.stage = knowledge.StageExtract
			err := failed[n]
			if err == nil {
				b.giveWay(ctx)
				err = b.cut(ctx, it, layouts[n])
			}
			if err := b.settle(ctx, it, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle sets the state of an item that failed. It returns the error if it concerns
// the whole batch.
func (b *importBatch) settle(ctx context.Context, it *importItem, err error) error {
	known, ok := errors.AsType[*knowledge.Error](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || !ok || known.Waits || errors.Is(err, blob.ErrNoSpace):
		return err
	case it.stage == knowledge.StageFetch && known.Retryable && !b.lastTry:
		it.state = itemWaits
	default:
		it.state = itemFailed
	}
	it.err = err
	return nil
}

// read sets the object as its source read it.
func (it *importItem) read(now source.Object) {
	listed := it.object
	now.Key, now.Transcript, now.Name, now.Tags, now.Access = listed.Key, listed.Transcript, listed.Name, listed.Tags, listed.Access
	it.object = now
}

// encoded returns the object as JSON, for its source.
func (it *importItem) encoded() []byte {
	data, err := json.Marshal(it.object)
	if err != nil {
		panic(err) // strings, numbers and times always marshal
	}
	return data
}

// failure returns the failure of an item as clients see it.
func (it *importItem) failure() knowledge.DocumentError {
	known := knowledge.AsError(it.err)
	stage := it.stage
	if at := step.StageOf(it.err); at != "" {
		stage = at
	}
	return knowledge.DocumentError{
		Code: known.Code, Stage: stage, Message: known.Message,
		Retryable: step.IsRetryable(known) || it.stage == knowledge.StageFetch,
	}
}

// version returns the version that an item becomes. Its error is that of a recogniser of
// personal data that cannot answer.
func (b *importBatch) version(ctx context.Context, it *importItem) (nv store.NewVersion, err error) {
	nv = store.NewVersion{
		Workspace: b.Workspace, Project: b.Project, DocumentID: documentOf(b.Import, it.object), ExternalID: selection.ExternalID(b.Request.Source, it.object),
		Name: it.attributes.Name, MediaType: it.mediaType, Bytes: max(it.object.Bytes, 0), SourceKey: "", Tags: it.attributes.Tags, Metadata: it.attributes.Metadata,
		Access: b.accessOf(it.object), Classification: b.Request.Classification, Subjects: it.attributes.Subjects, Splitter: b.Splitter, Enrichment: b.Request.Enrichment, RunID: b.runID, Facts: it.facts, Accounts: b.Request.Accounts,
	}
	if b.Request.Archive != "" { // the file of a person, as an upload is
		nv.UploadedBy = b.Owner
	}
	if f, _ := extract.FormatOf(it.mediaType); b.Request.Parser == knowledge.ParserModel && f.HasPages() {
		nv.Override.Parser, nv.Enrichment = b.Request.Parser, b.Request.ParserEnrichment
	}
	nv.Name, nv.Tags, nv.Metadata, err = b.a.documents.cutting.Recognisers.RedactAttributes(ctx, nv.Enrichment.Privacy, nv.Name, nv.Tags, nv.Metadata)
	return nv, err
}

// FailBatchInput names objects of a page, by their range in its list or by their
// places, and why the objects among them failed that have no outcome.
type FailBatchInput struct {
	knowledge.ImportRef
	Run     string                  `json:"run"`
	Page    int                     `json:"page"`
	First   int                     `json:"first,omitempty"`
	Last    int                     `json:"last,omitempty"`
	Objects []int                   `json:"objects,omitempty"` // places; nil = First and Last count
	Error   knowledge.DocumentError `json:"error"`
}

// FailImportBatch stores that objects failed whose step failed.
func (a *Importing) FailImportBatch(ctx context.Context, in FailBatchInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.failBatch(ctx, in); err != nil {
		return a.fail(ctx, in.ImportRef, err)
	}
	return nil
}

func (a *Importing) failBatch(ctx context.Context, in FailBatchInput) error {
	i, err := a.Imports.ImportForSystem(ctx, in.ImportRef)
	if err != nil {
		return fmt.Errorf("read import: %w", err)
	}
	b := &importBatch{opened: opened{Import: i}, a: a, runID: in.Run, page: in.Page, chosen: selection.New(i.Request)}
	if b.manifest, err = a.manifest(ctx, i, in.Page); err != nil {
		return err
	}
	places := in.Objects
	if places == nil {
		places = b.manifest.Todo[min(in.First, len(b.manifest.Todo)):min(in.Last, len(b.manifest.Todo))]
	}
	items, err := b.pending(ctx, places)
	if err != nil {
		return err
	}
	name := batchStep(in.First)
	if in.Objects != nil {
		name = largeStep(in.Objects)
	}
	if err := a.Imports.SetImportWait(ctx, i, store.ImportWait{Page: in.Page, Step: name}); err != nil {
		return err
	}
	for _, it := range items {
		it.attributes = b.chosen.AttributesOf(it.object, nil)
		it.state, it.stage = itemFailed, in.Error.Stage
		it.err = &knowledge.Error{Code: in.Error.Code, Message: in.Error.Message, Retryable: in.Error.Retryable}
	}
	return b.write(ctx, items)
}
