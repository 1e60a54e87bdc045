package notion

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// question is what a search or the rows of a table are asked for by.
type question struct {
	Sort   any    `json:"sort,omitempty"`
	Sorts  []any  `json:"sorts,omitempty"`
	Size   int    `json:"page_size"`
	Cursor string `json:"start_cursor,omitempty"`
}

// search returns pages and tables behind a place, those that were edited last first.
func (s *Source) search(ctx context.Context, after string, size int) (found list[item], err error) {
	q := question{Size: size, Cursor: after, Sort: map[string]string{"timestamp": "last_edited_time", "direction": "descending"}}
	err = s.client.post(ctx, "search", q, &found)
	if after != "" && knowledge.IsCode(err, knowledge.CodeInvalid) { // Notion has forgotten the place
		return found, source.ErrExpired
	}
	return found, err
}

// perGather is how many items a part of a search has.
const perGather = 1000

// gather stores the next part of what a search finds: everything, or what was edited since
// the run before.
func (s *Source) gather(ctx context.Context, at *token) error {
	since := at.Since.Truncate(time.Minute)
	var part []*entry
	for !at.Searched && len(part) < perGather {
		found, err := s.search(ctx, at.Next, perRequest)
		if err != nil {
			return err
		}
		if at.Next, err = found.after(at.Next); err != nil {
			return err
		}
		at.Searched = at.Next == ""
		for _, i := range found.Results {
			if !at.All && i.Edited.Before(since) {
				at.Searched = true
				break
			}
			if i.ID != "" && (i.Object == objectPage || i.Object == objectTable) {
				part = append(part, i.entry())
			}
		}
	}
	if err := s.keepFound(ctx, at, part); err != nil {
		return err
	}
	if at.Found*perGather > maxEntries {
		return tooMany()
	}
	if at.Searched {
		at.Next, at.Gathered = "", at.Found
	}
	return nil
}

// keepFound stores entries that came from Notion.
func (s *Source) keepFound(ctx context.Context, at *token, part []*entry) error {
	if len(part) == 0 {
		return nil
	}
	if err := save(ctx, s.state, partFound, at.Found, part); err != nil {
		return err
	}
	at.Found++
	return nil
}

func tooMany() error {
	return knowledge.Errorf(knowledge.CodeInvalid, "more than %d pages and tables are shared with the integration: share a part of the workspace with an integration of its own", maxEntries)
}
