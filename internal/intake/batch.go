package intake

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Batch takes in the files of one request as they stream by: Add stores each
// file, and Accept makes them documents when all of the request has arrived. If
// either fails, the caller calls Discard. Not safe for concurrent use.
type Batch struct {
	in        *Intake
	principal knowledge.Principal
	project   knowledge.Project
	run       Run
	files     []file
}

// file is a file of a batch.
type file struct {
	version    store.NewVersion
	taken      *Taken // nil = no version is on record yet
	sent       string // the name as it was sent, with its folder
	transcript string // blob key of the transcript that came with a recording, "" = none
}

// NewBatch returns a batch for a project. run is the run of its first file.
func (in *Intake) NewBatch(p knowledge.Principal, project knowledge.Project, run Run) *Batch {
	return &Batch{in: in, principal: p, project: project, run: run}
}

// Add stores a file. One of a kind that is not supported becomes a document with
// an error, beside which the others are taken in. externalID is the document's,
// as far as it is known by now: Accept decides.
func (b *Batch) Add(ctx context.Context, name, externalID string, content io.Reader) error {
	place, sent := len(b.files), name
	if place >= b.in.cfg.RequestFiles {
		return knowledge.Invalid("body.files", "must have at most %d files in one request", b.in.cfg.RequestFiles)
	}
	name, err := CleanName(name, fmt.Sprintf("body.files[%d].name", place))
	if err != nil {
		return err
	}
	nv := store.NewVersion{
		Workspace: b.project.Workspace, Project: b.project.ID, Limits: b.project.Config.Limits, ExternalID: externalID, Name: name, RunID: b.run.ID, Now: b.in.deps.Now(), Uploader: b.principal,
	}
	if place > 0 {
		nv.RunID = knowledge.DerivedID("run", b.run.ID, strconv.Itoa(place))
	}
	nv.DocumentID = documentID(nv, place)
	before, found, err := b.in.before(ctx, b.principal, Run{ID: nv.RunID, Repeated: b.run.Repeated})
	switch {
	case err != nil:
		return err
	case found:
		b.files = append(b.files, file{version: nv, taken: &Taken{Document: before, Run: nv.RunID, Readers: before.Readers()}, sent: sent})
		return nil
	}
	nv.SourceKey = newUploadKey(nv)
	err = b.in.putOriginal(ctx, bounded(content, "file", b.in.fileLimit(b.project)), "", &nv)
	switch refused := knowledge.AsError(err); {
	case err == nil:
	case refused.Code == knowledge.CodeUnsupportedFormat || refused.Code == knowledge.CodeEmpty:
		nv.SourceKey = ""
		nv.Error = &knowledge.DocumentError{Code: refused.Code, Stage: knowledge.StageCheck, Message: refused.Message}
	default:
		return err
	}
	b.files = append(b.files, file{version: nv, sent: sent})
	return nil
}

// Accept checks the attributes of the files, which may come behind them, puts
// the files on record and starts their ingestions. On an error some of the files
// may be documents already: a repeated request takes the rest in.
func (b *Batch) Accept(ctx context.Context, a Attributes) ([]Taken, error) {
	if err := b.complete(ctx, a); err != nil {
		return nil, err
	}
	taken := make([]Taken, 0, len(b.files))
	for i := range b.files {
		f := &b.files[i]
		if f.taken == nil {
			accepted, err := b.in.accept(ctx, f.version)
			if err != nil {
				return nil, err
			}
			f.taken = &accepted
		}
		taken = append(taken, *f.taken)
	}
	return taken, nil
}

// complete checks and sets the attributes of the files, and checks that the project
// has room for them.
func (b *Batch) complete(ctx context.Context, a Attributes) error {
	b.pairTranscripts()
	switch {
	case len(b.files) == 0:
		return knowledge.Invalid("body.files", "must have at least one file")
	case len(b.files) > 1 && a.ExternalID != "":
		return knowledge.Invalid("body.externalId", "can name one file only; send several files without it")
	}
	if e := b.files[0].version.Error; e != nil && len(b.files) == 1 {
		return &knowledge.Error{Code: e.Code, Message: e.Message} // Errorf would cut it
	}
	var described store.NewVersion
	if err := b.in.attribute(ctx, b.principal, b.project, a, &described); err != nil {
		return err
	}
	accounts, err := b.in.accounts(ctx, b.principal, b.project)
	if err != nil {
		return err
	}
	var added []store.NewVersion
	for i := range b.files {
		nv := &b.files[i].version
		nv.Accounts = accounts
		if b.files[i].taken != nil {
			if err := b.in.keepTranscript(ctx, &b.files[i]); err != nil {
				return err
			}
			continue
		}
		moved := nv.ExternalID != a.ExternalID
		a.describe(nv)
		nv.Splitter, nv.Enrichment = described.Splitter, described.Enrichment
		if err := checkPages(*nv); err != nil && len(b.files) == 1 { // among several it fails alone
			return err
		}
		if moved {
			if err := b.in.move(ctx, nv); err != nil {
				return err
			}
		}
		if err := b.in.keepTranscript(ctx, &b.files[i]); err != nil {
			return err
		}
		if err := b.in.seal(a.Password, nv); err != nil {
			return err
		}
		added = append(added, *nv)
	}
	if err := b.in.checkRoom(ctx, b.principal, b.project, added...); err != nil {
		return err
	}
	return b.in.checkBytes(ctx, b.principal, b.project, added...)
}

// move moves the bytes of a file to the document that an external id behind the
// file names.
func (in *Intake) move(ctx context.Context, nv *store.NewVersion) error {
	old, leased := nv.SourceKey, nv.Leased
	nv.DocumentID = documentID(*nv, 0)
	nv.SourceKey = newUploadKey(*nv)
	if leased {
		if err := in.lease(ctx, nv); err != nil {
			return err
		}
	}
	if _, err := in.copyBlob(ctx, old, nv.SourceKey); err != nil {
		return fmt.Errorf("move a file: %w", err)
	}
	if err := in.deps.Blobs.Delete(ctx, old); err != nil {
		return fmt.Errorf("move a file: %w", err)
	}
	return nil
}

// Begun reports whether some of the files are documents.
func (b *Batch) Begun() bool {
	for _, f := range b.files {
		if f.taken != nil {
			return true
		}
	}
	return false
}

// Discard deletes the bytes that no document refers to after Add or Accept
// failed with err.
func (b *Batch) Discard(ctx context.Context, err error) {
	for _, f := range b.files {
		if f.taken == nil {
			b.in.dropOriginal(ctx, f.version, err)
		}
		if f.transcript != "" {
			b.in.dropOriginal(ctx, store.NewVersion{DocumentID: f.version.DocumentID, SourceKey: f.transcript}, err)
		}
	}
}
