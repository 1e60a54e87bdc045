package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NewVersion is an upload: a document's first version, or the next. Nil fields are
// inherited when the version is added, from the newest pending version, or from the
// document if none is pending. So the upload undoes no change that was made while
// its bytes arrived. A new document is visible to the whole workspace by default.
type NewVersion struct {
	Workspace      string
	Project        string
	DocumentID     string
	ExternalID     string
	Name           string
	MediaType      string
	Bytes          int64
	SourceKey      string // blob key of the original
	Leased         bool   // BeginUpload has leased SourceKey; AddVersion ends that
	SourceURL      string // where the original is to be fetched from, if it is not stored yet
	Digest         string // of the original, its transcript and its kind; "" = not known
	SkipUnchanged  bool   // insert nothing if the newest version is the same
	Tags           []string
	ReplaceTags    bool
	Metadata       map[string]any
	Classification *string
	Access         *knowledge.Access
	ExternalUserID *string
	ConversationID *string
	Subjects       []string // the people whom it is about; empty and not nil = none
	Splitter       knowledge.Splitter
	Override       knowledge.Override
	Enrichment     knowledge.VersionEnrichment
	SealedPassword string                 // of the file, "" = none
	Parent         knowledge.VersionRef   // that contains the document as an attachment; zero = none
	Limits         knowledge.LimitsConfig // of the project for its documents and bytes; 0 = any
	Accounts       []knowledge.Account    // whose documents it counts among, with their limits
	RunID          string
	ParentRun      string                   // the reindex that adds the version, "" = none
	Facts          Facts                    // that are known already; MediaType and Bytes are those above
	Error          *knowledge.DocumentError // the upload was refused: the version is inserted, and its run has failed
	Now            time.Time
	// Uploader is whose upload it is. One with the write scope that may not change the document,
	// which has an earlier version, is CodeForbidden. The zero principal is the server itself.
	Uploader knowledge.Principal
	// UploadedBy is whose the version is, if no Uploader is named.
	UploadedBy string
}

// AddVersion inserts the next version of a document, the document if it is new, and
// the version's run, in one transaction. A document of which nothing is published
// shows the attributes of the new version at once; otherwise they hold once that
// version is published. The new version waits for a removal of older versions. Beyond a
// limit it is CodeLimitReached: of several versions at once only so many are inserted as
// the project has room for. AddVersion returns the document and the version.
//
// With SkipUnchanged it inserts nothing and returns the newest version, which has another
// run, if that has not failed and has the same digest, attributes, override, splitter and
// enrichment. The lease of the upload is not ended then.
func (s *versionStore) AddVersion(ctx context.Context, nv NewVersion) (knowledge.Document, Version, error) {
	nv.Now = s.orNow(nv.Now)
	var a addition
	err := s.write(ctx, "add a version of document "+nv.DocumentID, func(ctx context.Context, tx transaction) error {
		a = addition{NewVersion: nv}
		if err := a.run(ctx, tx); err != nil || a.unchanged {
			return err
		}
		return a.endLease(ctx, tx, s.id)
	})
	if err != nil {
		return knowledge.Document{}, Version{}, err
	}
	return a.result()
}

// addition is the work of AddVersion and ReingestVersion.
type addition struct {
	NewVersion
	doc        documentRow
	row        versionRow
	there      bool       // the document has a row
	fresh      bool       // nothing is inherited from an earlier document
	attributes attributes // of the version
	inherited  attributes // those before the upload's were merged, without what was found
	unchanged  bool       // row is the newest version, which is the same
}

func (a *addition) run(ctx context.Context, tx transaction) error {
	var err error
	if limited := a.Limits.Documents > 0 || a.Limits.Bytes > 0; limited {
		if err := lockProject(ctx, tx, a.Workspace, a.Project); err != nil {
			return err
		}
	}
	if len(storing(a.Accounts)) > 0 {
		if err := lockWorkspace(ctx, tx, a.Workspace); err != nil {
			return err
		}
	}
	if a.there, err = loadDocument(ctx, tx, a.DocumentID, &a.doc); err != nil {
		return err
	}
	if a.there && (a.doc.Workspace != a.Workspace || a.doc.Project != a.Project) {
		return knowledge.NotFound("document", a.DocumentID)
	}
	if err := a.checkUploader(ctx, tx); err != nil {
		return err
	}
	if a.Parent.Document != "" {
		if err := checkParent(ctx, tx, a.Parent); err != nil {
			return err
		}
	}
	if a.ConversationID != nil {
		if err := checkConversation(ctx, tx, a.Workspace, *a.ConversationID); err != nil {
			return err
		}
	}
	if err := a.checkLimits(ctx, tx); err != nil {
		return err
	}
	if err := a.checkAccounts(ctx, tx); err != nil {
		return err
	}
	if err := a.begin(ctx, tx); err != nil {
		return err
	}
	if err := a.compare(ctx, tx); err != nil || a.unchanged {
		return err
	}
	return a.insert(ctx, tx)
}

// checkUploader refuses an upload over a document that the uploader may not change.
func (a *addition) checkUploader(ctx context.Context, tx transaction) error {
	if !a.Uploader.Can(knowledge.ScopeWrite) || !a.there || a.doc.Removed {
		return nil // who lacks the scope attaches to a conversation of its own
	}
	err := requireChange(ctx, tx, a.Uploader, a.DocumentID)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return knowledge.Errorf(knowledge.CodeForbidden, "a document with this external id exists, and these credentials may not change it")
	}
	return err
}

// begin sets the attributes of the version, when the document is read.
func (a *addition) begin(ctx context.Context, tx transaction) error {
	if err := refuseRemoved(ctx, tx, a.Workspace, a.Project); err != nil {
		return err
	}
	a.fresh = !a.there || a.doc.Removed || a.doc.RemovingUpto > 0 && a.doc.RemovingUpto == a.doc.Version
	if err := a.base(ctx, tx); err != nil {
		return err
	}
	a.inherited = a.attributes
	if err := a.inherited.dropFound(); err != nil {
		return err
	}
	return a.attributes.merge(&a.NewVersion)
}

// insert writes the version, its run, and what they change of the document.
func (a *addition) insert(ctx context.Context, tx transaction) error {
	if err := a.insertVersion(ctx, tx); err != nil {
		return err
	}
	return insertRun(ctx, tx, a.ingestRun())
}

// insertVersion writes the version, and what it changes of the document.
func (a *addition) insertVersion(ctx context.Context, tx transaction) (err error) {
	if err := a.apply(); err != nil {
		return err
	}
	if err := a.store(ctx, tx); err != nil {
		return err
	}
	if a.row, err = a.version(); err != nil {
		return err
	}
	if err := versionTable.insert(ctx, tx, &a.row); err != nil {
		return err
	}
	return a.row.putSubjects(ctx, tx, false)
}

// base reads the attributes from which the version inherits.
func (a *addition) base(ctx context.Context, tx transaction) error {
	if a.fresh {
		a.attributes = defaultAttributes
		return nil
	}
	a.attributes = a.doc.attributes
	if a.doc.PublishedVersion == 0 {
		return nil // the document shows its newest version
	}
	there, err := versionTable.first(ctx, tx, &a.row, "v.document_id = ? AND v.version > ? AND v.status = 'pending' ORDER BY v.version DESC LIMIT 1",
		a.DocumentID, a.doc.PublishedVersion)
	if there {
		a.attributes = a.row.attributes
	}
	return err
}

// apply changes the document's row for the new version.
func (a *addition) apply() (err error) {
	d := &a.doc
	if a.fresh {
		*d = documentRow{
			ID: a.DocumentID, Workspace: a.Workspace, Project: a.Project, ExternalID: a.ExternalID, Version: d.Version,
			RemovingUpto: d.RemovingUpto, RemovingRun: d.RemovingRun, RemovingSince: d.RemovingSince, Events: d.Events, CreatedAt: micros(a.Now),
		}
		d.UploaderKey, d.UploaderUser = uploadedBy(a.Accounts)
	}
	if d.Status != string(knowledge.StatusPending) {
		d.Waiting = ""
	}
	d.Version++
	d.Parent, d.ParentVersion = a.Parent.Document, a.Parent.Version
	d.UpdatedAt, d.Progress = micros(a.Now), 0
	d.Status, d.Stage = string(knowledge.StatusPending), string(knowledge.StageFetch)
	if a.Error != nil {
		d.Status, d.Stage = string(knowledge.StatusError), string(a.Error.Stage)
	}
	if d.PublishedVersion == 0 {
		d.attributes = a.attributes
		d.MediaType, d.Bytes, d.ChunkCount, d.PageCount, d.Language, d.Warnings = a.MediaType, a.Bytes, 0, 0, undetermined, ""
	}
	d.Error, err = encodeError(a.Error)
	return err
}

// store writes the document's row, its tags and its tokens.
func (a *addition) store(ctx context.Context, tx transaction) error {
	var err error
	if a.there {
		err = documentTable.update(ctx, tx, &a.doc)
	} else {
		err = documentTable.insert(ctx, tx, &a.doc)
	}
	if err != nil || a.doc.PublishedVersion > 0 {
		return err
	}
	return a.doc.setWords(ctx, tx, a.there)
}

func (a *addition) version() (versionRow, error) {
	splitter, err := encode(a.Splitter)
	if err != nil {
		return versionRow{}, fmt.Errorf("encode splitter: %w", err)
	}
	override, err := encodeUnlessZero(a.Override, a.Override.IsZero())
	if err != nil {
		return versionRow{}, fmt.Errorf("encode override: %w", err)
	}
	enrichment, err := encodeUnlessZero(a.Enrichment, a.Enrichment == knowledge.VersionEnrichment{})
	if err != nil {
		return versionRow{}, fmt.Errorf("encode enrichment: %w", err)
	}
	warnings, err := encodeUnlessZero(a.Facts.Warnings, len(a.Facts.Warnings) == 0)
	if err != nil {
		return versionRow{}, fmt.Errorf("encode warnings: %w", err)
	}
	return versionRow{
		DocumentID: a.DocumentID, Version: a.doc.Version, Workspace: a.Workspace, Project: a.Project, RunID: a.RunID,
		Status: a.doc.Status, Stage: a.doc.Stage, Error: a.doc.Error, attributes: a.attributes, MediaType: a.MediaType,
		Language: cmp.Or(a.Facts.Language, undetermined), ChunkCount: a.Facts.ChunkCount, PageCount: a.Facts.PageCount, Warnings: warnings,
		SourceKey: a.SourceKey, SourceURL: a.SourceURL, Digest: a.Digest, Bytes: a.Bytes, Splitter: splitter,
		Override: override, Enrichment: enrichment, Password: a.SealedPassword, HadPassword: a.SealedPassword != "", CreatedAt: micros(a.Now), UpdatedAt: micros(a.Now),
		UploadedBy: a.uploadedBy(),
	}, nil
}

// uploadedBy returns whose the version is: the person who uploaded it.
func (a *addition) uploadedBy() string {
	if a.Uploader.Workspace() != "" {
		return a.Uploader.Owner()
	}
	return a.UploadedBy
}

// encodeUnlessZero returns v as a JSON column, or "" if it is zero.
func encodeUnlessZero(v any, zero bool) (string, error) {
	if zero {
		return "", nil
	}
	return encode(v)
}

// result is what AddVersion returns.
func (a *addition) result() (knowledge.Document, Version, error) {
	d, err := a.doc.document()
	if err != nil {
		return d, Version{}, err
	}
	a.row.RemovingUpto, a.row.DocumentCreatedAt, a.row.ExternalID = a.doc.RemovingUpto, a.doc.CreatedAt, a.doc.ExternalID
	v, err := a.row.version()
	return d, v, err
}

func (a *addition) ingestRun() Run {
	r := Run{
		ID: a.RunID, Workspace: a.Workspace, Project: a.Project, Kind: knowledge.KindIngest, FirstOffset: notBegun, Status: knowledge.RunRunning,
		WorkflowID: knowledge.KindIngest.WorkflowID(a.Workspace, a.DocumentID), Subject: a.DocumentID, Version: a.doc.Version, Parent: a.ParentRun, CreatedAt: a.Now,
		Accounts: a.Accounts,
	}
	if a.Error != nil {
		r.Status, r.EndedAt = knowledge.RunFailed, a.Now
		r.Error = &knowledge.Failure{Code: a.Error.Code, Message: a.Error.Message}
	}
	return r
}
