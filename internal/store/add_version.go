package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NewVersion is an upload: a document's first version, or the next. What is nil
// is kept as it is when the version is added, so that nothing which was changed
// while its bytes came is undone; of a new document the whole workspace sees it.
type NewVersion struct {
	Workspace      string
	Project        string
	DocumentID     string
	ExternalID     string
	Name           string
	MediaType      string
	Bytes          int64
	SourceKey      string // blob key of the original
	SourceURL      string // where the original is to be fetched from, if it is not stored yet
	Tags           []string
	ReplaceTags    bool
	Metadata       map[string]any
	Classification *string
	Access         *knowledge.Access
	ExternalUserID *string
	ConversationID *string
	Splitter       knowledge.Splitter
	RunID          string
	Error          *knowledge.DocumentError // refused at once: the version is made, and its run has failed
	Now            time.Time
}

// AddVersion makes the next version of a document, the document if it is new,
// and the version's run, all in one transaction. Name, tags, metadata and access
// hold at once; an upload that was refused leaves those of a published document
// alone. While an older removal is under way the new version waits for it.
func (s *Store) AddVersion(ctx context.Context, nv NewVersion) (knowledge.Document, Version, error) {
	a := addition{NewVersion: nv}
	a.Now = orNow(nv.Now)
	err := s.write(ctx, "add a version of document "+nv.DocumentID, a.run)
	if err != nil {
		return knowledge.Document{}, Version{}, err
	}
	d, err := a.doc.document()
	if err != nil {
		return d, Version{}, err
	}
	a.row.join(&a.doc)
	v, err := a.row.version()
	return d, v, err
}

// addition is the work of AddVersion.
type addition struct {
	NewVersion
	doc   documentRow
	row   versionRow
	there bool // the document has a row
	fresh bool // nothing of an earlier document counts
}

func (a *addition) run(ctx context.Context, tx bun.Tx) error {
	var err error
	if a.there, err = loadDocument(ctx, tx, a.DocumentID, &a.doc); err != nil {
		return err
	}
	if a.there && (a.doc.Workspace != a.Workspace || a.doc.Project != a.Project) {
		return knowledge.NotFound("document", a.DocumentID)
	}
	a.fresh = !a.there || a.doc.Removed || a.doc.RemovingUpto > 0 && a.doc.RemovingUpto == a.doc.Version
	tags, acl, err := a.apply()
	if err != nil {
		return err
	}
	if err := a.store(ctx, tx, tags, acl); err != nil {
		return err
	}
	if a.row, err = a.version(); err != nil {
		return err
	}
	if _, err := tx.NewInsert().Model(&a.row).Exec(ctx); err != nil {
		return err
	}
	return insertRun(ctx, tx, a.ingestRun())
}

// apply brings the document's row to what it is with the new version.
func (a *addition) apply() (tags, acl []string, err error) {
	d := &a.doc
	if a.fresh {
		*d = documentRow{
			ID: a.DocumentID, Workspace: a.Workspace, Project: a.Project, ExternalID: a.ExternalID, Version: d.Version,
			RemovingUpto: d.RemovingUpto, RemovingRun: d.RemovingRun, RemovingSince: d.RemovingSince,
			Tags: "[]", Metadata: "{}", Access: `{"workspace":true}`, CreatedAt: micros(a.Now),
		}
	}
	d.Version++
	d.UpdatedAt, d.Progress = micros(a.Now), 0
	d.Status, d.Stage = string(knowledge.StatusPending), string(knowledge.StageFetch)
	if a.Error != nil {
		d.Status, d.Stage = string(knowledge.StatusError), string(a.Error.Stage)
	}
	if d.Error, err = encodeError(a.Error); err != nil {
		return nil, nil, err
	}
	if d.PublishedVersion == 0 {
		d.MediaType, d.Bytes, d.ChunkCount, d.PageCount, d.Language = a.MediaType, a.Bytes, 0, 0, undetermined
	}
	if a.Error == nil || d.PublishedVersion == 0 {
		err = a.attributes()
	}
	if err == nil {
		err = decode(field{d.Tags, &tags})
	}
	if err == nil {
		acl, err = d.acl()
	}
	return tags, acl, err
}

// attributes takes over what the upload says: its name, and what else it has of
// tags, metadata, classification and access.
func (a *addition) attributes() error {
	d := &a.doc
	d.Name = a.Name
	for column, given := range map[*string]*string{
		&d.Classification: a.Classification, &d.ExternalUserID: a.ExternalUserID, &d.ConversationID: a.ConversationID,
	} {
		if given != nil {
			*column = *given
		}
	}
	tags := []string{}
	if !a.ReplaceTags {
		if err := decode(field{d.Tags, &tags}); err != nil {
			return err
		}
	}
	tags = unique(append(tags, a.Tags...))
	if len(tags) > maxTags {
		return invalid("body.tags", "a document has at most "+strconv.Itoa(maxTags)+" tags, and this would be more: use replaceTags")
	}
	columns := map[*string]any{&d.Tags: tags}
	if a.Metadata != nil {
		columns[&d.Metadata] = a.Metadata
	}
	if a.Access != nil {
		columns[&d.Access] = *a.Access
	}
	for column, v := range columns {
		text, err := encode(v)
		if err != nil {
			return fmt.Errorf("encode attributes: %w", err)
		}
		*column = text
	}
	return nil
}

// store writes the document's row and what it is searched by.
func (a *addition) store(ctx context.Context, tx bun.Tx, tags, acl []string) error {
	var err error
	if a.there {
		_, err = tx.NewUpdate().Model(&a.doc).WherePK().Exec(ctx)
	} else {
		_, err = tx.NewInsert().Model(&a.doc).Exec(ctx)
	}
	if err != nil {
		return err
	}
	if err := setTags(ctx, tx, a.DocumentID, a.there, tags); err != nil {
		return err
	}
	return setTokens(ctx, tx, a.DocumentID, a.there, acl)
}

func (a *addition) version() (versionRow, error) {
	splitter, err := encode(a.Splitter)
	if err != nil {
		return versionRow{}, fmt.Errorf("encode splitter: %w", err)
	}
	return versionRow{
		DocumentID: a.DocumentID, Version: a.doc.Version, Workspace: a.Workspace, Project: a.Project, RunID: a.RunID,
		Status: a.doc.Status, Stage: a.doc.Stage, Error: a.doc.Error, Name: a.Name, MediaType: a.MediaType,
		Language: undetermined, SourceKey: a.SourceKey, SourceURL: a.SourceURL, Bytes: a.Bytes, Splitter: splitter,
		CreatedAt: micros(a.Now), UpdatedAt: micros(a.Now),
	}, nil
}

func (a *addition) ingestRun() Run {
	r := Run{
		ID: a.RunID, Workspace: a.Workspace, Project: a.Project, Kind: "ingest", FirstOffset: notBegun, Status: RunRunning,
		WorkflowID: ingestWorkflow(a.Workspace, a.DocumentID), Subject: a.DocumentID, Version: a.doc.Version, CreatedAt: a.Now,
	}
	if a.Error != nil {
		r.Status, r.EndedAt = RunFailed, a.Now
		r.Error = &RunError{Code: a.Error.Code, Message: a.Error.Message}
	}
	return r
}
