package store

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// attributes are the properties of a document that an upload sets and a patch
// changes. Each version has its own. Publishing a version makes them the document's.
type attributes struct {
	Name           string `bun:"name"`
	Tags           string `bun:"tags"`
	Metadata       string `bun:"metadata"`
	Classification string `bun:"classification"`
	Access         string `bun:"access"`
	ExternalUserID string `bun:"external_user_id"`
	ConversationID string `bun:"conversation_id"`
	Subjects       string `bun:"subjects"` // JSON, "" = none
	Found          string `bun:"found"`    // which metadata and tags no upload and no patch set
}

// defaultAttributes are the attributes of a new document whose upload sets none.
var defaultAttributes = attributes{Tags: "[]", Metadata: "{}", Access: `{"workspace":true}`}

// acl returns the access tokens.
func (a *attributes) acl(workspace string) ([]string, error) {
	var access knowledge.Access
	if err := decode(field{a.Access, &access}); err != nil {
		return nil, fmt.Errorf("decode access: %w", err)
	}
	return knowledge.ACL(workspace, access, a.ExternalUserID, a.ConversationID), nil
}

// merge sets the attributes that an upload sets, and leaves the others.
func (a *attributes) merge(nv *NewVersion) error {
	a.Name = nv.Name
	if err := a.dropFound(); err != nil {
		return err
	}
	for column, given := range map[*string]*string{
		&a.Classification: nv.Classification, &a.ExternalUserID: nv.ExternalUserID, &a.ConversationID: nv.ConversationID,
	} {
		if given != nil {
			*column = *given
		}
	}
	tags := []string{}
	if !nv.ReplaceTags {
		if err := decode(field{a.Tags, &tags}); err != nil {
			return err
		}
	}
	tags = unique(append(tags, nv.Tags...))
	if len(tags) > maxTags {
		return invalid("body.tags", "a document has at most "+strconv.Itoa(maxTags)+" tags, and this would be more: use replaceTags")
	}
	metadata, err := a.mergedMetadata(nv)
	if err != nil {
		return err
	}
	if nv.Subjects != nil {
		if a.Subjects, err = encodeSubjects(nv.Subjects); err != nil {
			return err
		}
	}
	columns := map[*string]any{&a.Tags: tags, &a.Metadata: metadata}
	if nv.Access != nil {
		columns[&a.Access] = *nv.Access
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

// mergedMetadata returns the metadata of a version: the upload's metadata, added to the
// metadata of the version before unless the upload replaces it.
func (a *attributes) mergedMetadata(nv *NewVersion) (map[string]any, error) {
	metadata := map[string]any{}
	if !nv.ReplaceTags {
		if err := decode(field{a.Metadata, &metadata}); err != nil {
			return nil, err
		}
	}
	maps.Copy(metadata, nv.Metadata)
	if len(knowledge.MetadataFields("body.metadata", metadata)) > 0 {
		return nil, invalid("body.metadata", "a document has at most "+strconv.Itoa(knowledge.MaxMetadata)+" bytes of metadata as JSON, and this would be more: use replaceTags")
	}
	return metadata, nil
}

// setWords writes the tags and the access tokens by which a document is found, and puts it under
// the holds whose filters it meets.
func (r *documentRow) setWords(ctx context.Context, tx transaction, had bool) error {
	var tags []string
	if err := decode(field{r.Tags, &tags}); err != nil {
		return fmt.Errorf("decode tags of document %s: %w", r.ID, err)
	}
	acl, err := r.acl(r.Workspace)
	if err != nil {
		return err
	}
	if err := replaceWords(ctx, tx, had, r.ID, "document_tags", "tag", tags); err != nil {
		return err
	}
	if err := replaceWords(ctx, tx, had, r.ID, "document_tokens", "token", acl); err != nil {
		return err
	}
	return r.capture(ctx, tx)
}
