package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// archive is a zip of an upload, which becomes an import.
type archive struct {
	name string
	ref  knowledge.ImportRef
	key  string // of its bytes
}

// archiveHead is how many bytes tell an archive from a document.
const archiveHead = 4

// takeArchive stores a file if it is an archive. Otherwise it returns the content as it
// was.
func (f *form) takeArchive(ctx context.Context, name string, content io.Reader) (rest io.Reader, err error) {
	head := make([]byte, archiveHead)
	n, err := io.ReadFull(content, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	rest = io.MultiReader(bytes.NewReader(head[:n]), content)
	if !extract.IsArchive(name, head[:n]) {
		return rest, nil
	}
	location := fmt.Sprintf("body.files[%d]", f.files-1)
	if f.archive != nil {
		return nil, knowledge.Invalid(location, "is a second archive: send one in a request")
	}
	if name, err = intake.CleanName(name, location+".name"); err != nil {
		return nil, err
	}
	f.archive = &archive{name: name, ref: knowledge.ImportRef{
		Workspace: f.project.Workspace, Project: f.project.ID, Import: knowledge.DerivedID("import", f.run.ID),
	}}
	f.archive.key, err = f.imports.StoreArchive(ctx, f.archive.ref, rest)
	return nil, err
}

// importRequest returns the request of the archive that came with the form, nil if none
// did. It refuses fields that say nothing of what has come.
func (f *form) importRequest(ctx context.Context) (*store.ImportRequest, error) {
	a := f.attributes
	parser := a.Override.Parser
	a.Override.Parser = ""
	if f.archive == nil {
		if f.seen["import"] {
			return nil, knowledge.Invalid("body.import", "goes with an archive only")
		}
		return nil, nil
	}
	for location, given := range map[string]bool{
		"body.externalUserId": a.ExternalUserID != "", "body.conversationId": a.ConversationID != "",
		"body.override": !a.Override.IsZero() || a.Password != "",
	} {
		if given {
			return nil, knowledge.Invalid(location, "does not go with an archive: send its files one by one")
		}
	}
	if err := knowledge.InvalidFields(knowledge.ExternalIDFields("body.externalId", a.ExternalID)); err != nil {
		return nil, err
	}
	r := store.ImportRequest{
		Source: objects.Spec{Type: objects.TypeZip, URI: cmp.Or(a.ExternalID, f.archive.name)}, Archive: f.archive.key,
		Tags: a.Tags, Metadata: a.Metadata, Access: a.Access, Classification: a.Classification, Subjects: a.Subjects, Parser: parser,
	}
	f.choice.choose(&r)
	return &r, f.imports.Check(ctx, f.project, r)
}

// startImport starts the import of the archive that came with the form, if one did.
func (f *form) startImport(ctx context.Context, p knowledge.Principal, r *store.ImportRequest) (*store.Import, error) {
	if r == nil {
		return nil, nil
	}
	i, err := f.imports.Start(ctx, p, f.project, f.archive.ref.Import, *r)
	if err != nil {
		return nil, err
	}
	return &i, nil
}
