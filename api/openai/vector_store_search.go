package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// SearchBody is the body of a search.
type SearchBody struct {
	_       struct{}        `json:"-" additionalProperties:"true"`
	Query   queries         `json:"query"`
	Most    *int            `json:"max_num_results,omitempty" minimum:"1" maximum:"50" doc:"Default: 10"`
	Filters *SearchFilter   `json:"filters,omitempty"`
	Ranking *RankingOptions `json:"ranking_options,omitempty"`
	Rewrite bool            `json:"rewrite_query,omitempty" doc:"The chat model rewrites the query first, like ai.enhanceQuery of a project"`
}

// RankingOptions choose among what was found.
type RankingOptions struct {
	_         struct{} `json:"-" additionalProperties:"true"`
	Threshold float64  `json:"score_threshold,omitempty" minimum:"0" maximum:"1" doc:"Omit results with a lower score"`
	Ranker    string   `json:"ranker,omitempty" doc:"auto"`
	Hybrid    any      `json:"hybrid_search,omitempty" doc:"Not supported"`
}

// queries are a question, or the parts of one. JSON may have one string instead of a
// list.
type queries []string

// Schema implements huma.SchemaProvider.
func (queries) Schema(huma.Registry) *huma.Schema {
	one, most := 1, 20
	text := &huma.Schema{Type: huma.TypeString, MinLength: &one}
	return &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: text, MinItems: &one, MaxItems: &most}}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (q *queries) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, (*inputs)(q)) }

// SearchPage is what a search found.
type SearchPage struct {
	Object   string     `json:"object" enum:"vector_store.search_results.page"`
	Query    []string   `json:"search_query"`
	Data     []FoundHit `json:"data"`
	HasMore  bool       `json:"has_more"`
	NextPage *string    `json:"next_page"`
}

// FoundHit is a passage that was found.
type FoundHit struct {
	FileID     string         `json:"file_id"`
	Filename   string         `json:"filename"`
	Score      float64        `json:"score"`
	Attributes map[string]any `json:"attributes" doc:"The metadata of the document"`
	Content    []FoundText    `json:"content"`
	ChunkID    string         `json:"chunk_id" doc:"Extension: the id of the passage, for GET /chunks/{id}"`
}

// FoundText is the text of a passage.
type FoundText struct {
	Type string `json:"type" enum:"text"`
	Text string `json:"text"`
}

func (s *Server) searchVectorStore(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b SearchBody
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := searchFields.check(r); err != nil {
		return err
	}
	if err := b.Ranking.check("body.ranking_options"); err != nil {
		return err
	}
	text := strings.Join(b.Query, "\n")
	if err := question.CheckText("body.query", text); err != nil {
		return err
	}
	filter, err := b.Filters.conditions("body.filters")
	if err == nil {
		err = knowledge.InvalidFields(filter.Fields("body.filters"))
	}
	if err != nil {
		return err
	}
	project, err := s.vectorStore(r, p)
	if err != nil {
		return err
	}
	most, threshold := 10, 0.0
	if b.Most != nil {
		most = *b.Most
	}
	if b.Ranking != nil {
		threshold = b.Ranking.Threshold
	}
	hits, err := s.deps.Blobs.Search(r.Context(), p, project, Search{Text: text, Filter: filter, Most: most, Rewrite: b.Rewrite})
	if err != nil {
		return err
	}
	page := SearchPage{Object: "vector_store.search_results.page", Query: b.Query, Data: []FoundHit{}}
	for _, passage := range hits {
		if passage.Score < threshold {
			continue
		}
		hit := FoundHit{
			FileID: fileOf(passage.Document.ID, passage.Document.ExternalID), Filename: passage.Document.Name, Score: passage.Score,
			Attributes: passage.Document.Metadata, Content: []FoundText{{"text", passage.Text}}, ChunkID: passage.ChunkID,
		}
		if hit.Attributes == nil {
			hit.Attributes = map[string]any{}
		}
		page.Data = append(page.Data, hit)
	}
	edge.WriteJSON(w, http.StatusOK, page)
	return nil
}
