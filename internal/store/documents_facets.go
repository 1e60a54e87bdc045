package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxFaceted bounds the documents whose facets are counted: the newest ones.
const maxFaceted = 1000

// maxFacetBytes bounds a value. A longer one, as a summary, is no facet.
const maxFacetBytes = 100

// Facets are values by which documents can be told apart, each with the number of
// documents that have it.
type Facets struct {
	Tags, Languages, Classifications, Entities map[string]int
	Metadata                                   map[string]map[any]int // by key: texts, numbers and booleans
}

// facets is prepared once, like visibleChunks.
var facets = `SELECT d.tags, d.language, d.classification, d.metadata FROM documents AS d
WHERE ` + searched() + ` AND ` + ofProjects5 + ` ORDER BY d.created_at DESC, d.id LIMIT ?4`

// Facets returns the facets of the newest published documents, up to 1,000, that the
// principal's tokens reach, whatever its scopes. Empty projects means all that the
// principal covers.
func (s *documentStore) Facets(ctx context.Context, p knowledge.Principal, projects []string) (Facets, error) {
	found := Facets{
		Tags: map[string]int{}, Languages: map[string]int{}, Classifications: map[string]int{}, Entities: map[string]int{},
		Metadata: map[string]map[any]int{},
	}
	if err := requireWorkspace(p); err != nil {
		return found, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return found, err
	}
	rows, err := s.reader.query(ctx, facets, p.Workspace(), p.Project(), m.list(), maxFaceted, jsonList(projects))
	if err != nil {
		return found, fmt.Errorf("read facets: %w", failure(err))
	}
	defer rows.Close()
	for rows.Next() {
		var tags, language, classification, metadata string
		if err := rows.Scan(&tags, &language, &classification, &metadata); err != nil {
			return found, fmt.Errorf("read facets: %w", failure(err))
		}
		if err := found.add(tags, language, classification, metadata); err != nil {
			return found, fmt.Errorf("decode facets: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return found, fmt.Errorf("read facets: %w", failure(err))
	}
	return found, nil
}

// add counts the values of one document.
func (f *Facets) add(tags, language, classification, metadata string) error {
	var listed []string
	var named map[string]any
	if err := decode(field{tags, &listed}, field{metadata, &named}); err != nil {
		return err
	}
	for _, tag := range listed {
		f.Tags[tag]++
	}
	if language != "" {
		f.Languages[language]++
	}
	if classification != "" {
		f.Classifications[classification]++
	}
	for key, value := range named {
		f.addMetadata(key, value)
	}
	return nil
}

func (f *Facets) addMetadata(key string, value any) {
	switch value := value.(type) {
	case []any:
		if key != knowledge.EntitiesKey {
			return
		}
		for _, entity := range value {
			if name, is := entity.(string); is && len(name) <= maxFacetBytes {
				f.Entities[name]++
			}
		}
		return
	case string:
		if value == "" || len(value) > maxFacetBytes {
			return
		}
	case float64, bool:
	default:
		return
	}
	if f.Metadata[key] == nil {
		f.Metadata[key] = map[any]int{}
	}
	f.Metadata[key][value]++
}
