package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// foundNames lists the metadata keys and the tags that were found in a file or by a model.
type foundNames struct {
	Keys []string `json:"keys,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// addFound adds the metadata and tags that were found to a version, and to its
// document while nothing of it is published. It leaves out what would exceed the
// limits of a document.
func addFound(ctx context.Context, tx transaction, ref knowledge.VersionRef, f Facts) error {
	var row versionRow
	if err := loadVersion(ctx, tx, ref, &row); err != nil {
		return err
	}
	before := row.attributes
	if err := row.addFound(f); err != nil {
		return fmt.Errorf("add what was found in document %s: %w", ref.Document, err)
	}
	if row.attributes == before {
		return nil
	}
	if _, err := tx.NewUpdate().Model(&row).Column("metadata", "tags", "found").WherePK().Exec(ctx); err != nil {
		return err
	}
	var doc documentRow
	if _, err := loadDocument(ctx, tx, ref.Document, &doc); err != nil || doc.PublishedVersion > 0 || doc.Version != ref.Version {
		return err
	}
	doc.Metadata, doc.Tags, doc.Found = row.Metadata, row.Tags, row.Found
	if _, err := tx.NewUpdate().Model(&doc).Column("metadata", "tags", "found").WherePK().Exec(ctx); err != nil {
		return err
	}
	return doc.setWords(ctx, tx, true)
}

// addFound adds the keys and tags that the attributes do not have.
func (a *attributes) addFound(f Facts) error {
	var list foundNames
	metadata, tags := map[string]any{}, []string{}
	if err := decode(field{a.Found, &list}, field{a.Metadata, &metadata}, field{a.Tags, &tags}); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if _, has := metadata[key]; has {
			continue
		}
		metadata[key] = f.Metadata[key]
		if encoded, err := json.Marshal(metadata); err != nil || len(encoded) > knowledge.MaxMetadata {
			delete(metadata, key)
			continue
		}
		list.Keys = append(list.Keys, key)
	}
	for _, tag := range f.Tags {
		if len(tags) < maxTags && !slices.Contains(tags, tag) {
			tags, list.Tags = append(tags, tag), append(list.Tags, tag)
		}
	}
	return a.encode(metadata, tags, list)
}

// dropFound removes what was found, so that the next version does not inherit it.
func (a *attributes) dropFound() error {
	if a.Found == "" {
		return nil
	}
	var list foundNames
	metadata, tags := map[string]any{}, []string{}
	if err := decode(field{a.Found, &list}, field{a.Metadata, &metadata}, field{a.Tags, &tags}); err != nil {
		return err
	}
	for _, key := range list.Keys {
		delete(metadata, key)
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return slices.Contains(list.Tags, tag) })
	return a.encode(metadata, tags, foundNames{})
}

func (a *attributes) encode(metadata map[string]any, tags []string, list foundNames) (err error) {
	if a.Metadata, err = encode(metadata); err != nil {
		return err
	}
	if a.Tags, err = encode(tags); err != nil {
		return err
	}
	if a.Found = ""; len(list.Keys)+len(list.Tags) > 0 {
		a.Found, err = encode(list)
	}
	return err
}
