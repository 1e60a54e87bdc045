package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// withhold leaves out what an item has of documents that the caller may not read, unless the caller
// asked the question. An answer that was erased since names no source, so what the judge said of
// it is left out too.
func (er *evaluationRoutes) withhold(ctx context.Context, p knowledge.Principal, e store.Evaluation, view *evaluatedView) error {
	var settings struct {
		Of string `json:"of"` // the answers are those of another evaluation, perhaps of somebody else
	}
	if err := json.Unmarshal(e.Request, &settings); err != nil {
		return fmt.Errorf("decode the settings of evaluation %s: %w", e.ID, err)
	}
	if e.Owner == p.Owner() && settings.Of == "" {
		return nil
	}
	hidden := view.Answer == nil && (view.Reason != "" || view.ContextReason != "" || len(view.Sentences) > 0)
	for _, s := range view.Sources {
		if !s.Removed || hidden {
			continue
		}
		_, err := er.store.Document(ctx, p.Reader(), s.DocumentID)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound), knowledge.IsCode(err, knowledge.CodeGone):
			hidden = true
		case err != nil:
			return fmt.Errorf("read document %s: %w", s.DocumentID, err)
		}
	}
	if !hidden {
		return nil
	}
	view.Withheld, view.Answer, view.Reason, view.ContextReason, view.Sentences = true, nil, "", "", nil
	for i := range view.Failures {
		view.Failures[i].Reason = ""
	}
	if len(view.Passages) > 0 {
		view.Question, view.Reference = "", ""
	}
	return nil
}
