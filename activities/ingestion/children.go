package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"mime"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxChildren bounds the attachments of one document that become documents.
const maxChildren = 500

// attachments adds the files in a document as documents.
type attachments struct {
	Blobs     step.Blobs
	Children  Children
	Runs      step.RunEnds
	Workflows Workflows
	Log       *slog.Logger
	files     *files

	Recognisers privacy.Recognisers
}

// addChildren makes the attachments of a version documents of their own, with the
// attributes of the version, and starts their ingestion. Their ids depend on the
// parent and their names, so that a repetition adds nothing, and a newer version of
// the parent adds versions to them.
func (a *attachments) addChildren(ctx context.Context, v store.Version, folder string, children []format.File) error {
	if len(children) > maxChildren {
		return knowledge.Errorf(knowledge.CodeTooLarge, "the document has %d attachments, and at most %d are read: split it", len(children), maxChildren)
	}
	seen := map[string]int{}
	for _, child := range children {
		seen[child.Name]++
		if err := a.addChild(ctx, v, folder, child, seen[child.Name]); err != nil {
			return fmt.Errorf("add attachment: %w", err)
		}
	}
	return nil
}

// addChild adds one attachment. number tells attachments with the same name apart.
func (a *attachments) addChild(ctx context.Context, v store.Version, folder string, child format.File, number int) error {
	nv := childVersion(v, child, strconv.Itoa(number))
	var err error
	if nv.Name, nv.Tags, nv.Metadata, err = a.Recognisers.RedactAttributes(ctx, nv.Enrichment.Privacy, nv.Name, nv.Tags, nv.Metadata); err != nil {
		return err
	}
	nv.SourceKey = blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, nv.RunID)
	bytes, err := a.files.storeFile(ctx, nv.SourceKey, filepath.Join(folder, filepath.Base(child.File)))
	if err != nil {
		return err
	}
	nv.Bytes = bytes
	_, added, err := a.Children.AddVersion(ctx, nv)
	switch {
	case knowledge.IsCode(err, knowledge.CodeConflict): // the step was repeated
		run, err := a.Runs.RunForSystem(ctx, nv.Workspace, nv.RunID)
		if err != nil {
			return fmt.Errorf("read run %s: %w", nv.RunID, err)
		}
		added.VersionRef = knowledge.VersionRef{Workspace: nv.Workspace, Project: nv.Project, Document: nv.DocumentID, Version: run.Version}
		added.RunID = nv.RunID
		if run.Status != knowledge.RunRunning {
			return nil
		}
	case knowledge.IsCode(err, knowledge.CodeNotFound), knowledge.IsCode(err, knowledge.CodeParseLimit):
		// The parent is being removed, or the attachment is nested too deep.
		a.Log.InfoContext(ctx, "attachment is left out", "document", v.Document, "reason", err)
		return a.Blobs.Delete(context.WithoutCancel(ctx), nv.SourceKey)
	case err != nil:
		return err
	}
	return a.Workflows.Ingest(ctx, added)
}

// childVersion returns the version of an attachment that a version of its parent
// contains.
func childVersion(v store.Version, child format.File, number string) store.NewVersion {
	name := knowledge.CleanName(strings.ToValidUTF8(child.Name, "\ufffd"))
	if name == "" {
		name = "attachment " + number
	}
	if runes := []rune(name); len(runes) > knowledge.MaxName {
		name = string(runes[len(runes)-knowledge.MaxName:]) // with its extension
	}
	override := v.Override
	override.Parser = ""                                    // an attachment may be of a format without pages
	mediaType, _, _ := mime.ParseMediaType(child.MediaType) // "" if it is not a media type
	return store.NewVersion{
		Workspace: v.Workspace, Project: v.Project, DocumentID: knowledge.DerivedID("child", v.Document, child.Name, number),
		Name: name, MediaType: mediaType, Tags: v.Tags, ReplaceTags: true, Metadata: v.Metadata, Classification: &v.Classification, Subjects: append([]string{}, v.Subjects...),
		Access: &v.Access, ExternalUserID: &v.ExternalUserID, ConversationID: &v.ConversationID, Splitter: v.Splitter, Override: override,
		Enrichment: v.Enrichment, UploadedBy: v.UploadedBy,
		Parent: v.VersionRef, RunID: knowledge.DerivedID("child run", v.Document, strconv.Itoa(v.Version), child.Name, number), Now: time.Now().UTC(),
	}
}

// startChildRemovals starts the removals of the attachments of a document. The sweep
// starts those that fail.
func startChildRemovals(ctx context.Context, children Children, workflows Workflows, document string) error {
	removals, err := children.ChildRemovals(ctx, document)
	if err != nil {
		return err
	}
	for _, r := range removals {
		if err := workflows.Remove(ctx, r); err != nil {
			return fmt.Errorf("start the removal of attachment %s: %w", r.Document, err)
		}
	}
	return nil
}
