package retrieve_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// sources is an Index of project documents and of what is attached to a conversation.
type sources struct {
	project, attached []knowledge.Hit
	queries           []index.Query
}

func (x *sources) Dense(context.Context, index.Query, []float32) ([]knowledge.Hit, error) {
	return nil, nil
}

func (x *sources) BM25(_ context.Context, q index.Query, _ string) ([]knowledge.Hit, error) {
	x.queries = append(x.queries, q)
	if len(q.Documents) > 0 {
		return x.attached, nil
	}
	return x.project, nil
}

// attachedIDs is an AttachmentReader.
type attachedIDs []string

func (a attachedIDs) Attached(context.Context, knowledge.Principal, []string) ([]string, error) {
	return a, nil
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	var project, all []string
	for i := range 20 {
		project = append(project, fmt.Sprintf("p%02d", i))
	}
	all = append(slices.Clone(project), "a1", "a2", "a3")
	own := knowledge.Filter{{Field: "name", Type: knowledge.OpNe, Value: "x"}}
	scope := knowledge.AnyTag([]string{"shop"})
	find := func(t *testing.T, x *sources, conversation string, attached attachedIDs, documents ...string) string {
		t.Helper()
		p := knowledgetest.Principal(knowledge.Claims{Workspace: "cranfield", ConversationID: conversation})
		r, err := retrieve.New(x, showing(all...), &lengths{}).Using(retrieve.Models{Attachments: attached}).Retrieve(t.Context(), retrieve.Request{
			Principal: p, Query: "q", Filter: own, Scope: scope, Documents: documents, Config: knowledge.RetrievalConfig{Strategy: "bm25"},
		})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		last := 2.0
		for _, c := range r.Contexts {
			found += c.ID + " "
			if c.Score > last {
				t.Errorf("the score rises to %v at %s", c.Score, c.ID)
			}
			last = c.Score
		}
		return found
	}
	ranked := func(ids ...string) (list []knowledge.Hit) {
		for i, id := range ids {
			list = append(list, knowledge.Hit{ChunkID: id, DocumentID: id, Version: 1, Score: float64(100 - i)})
		}
		return list
	}

	t.Run("attachments that would be lost have a fifth of the passages", func(t *testing.T) {
		t.Parallel()
		x := &sources{project: ranked(append(slices.Clone(project), "a2")...), attached: ranked("a1", "a2", "a3")}
		if got := find(t, x, "talk", attachedIDs{"a"}); got != "p00 p01 p02 p03 p04 p05 p06 p07 a1 a2 " {
			t.Error(got)
		}
		want := []knowledge.Filter{append(own[:1:1], scope...), own}
		if diff := cmp.Diff(want, []knowledge.Filter{x.queries[0].Filter, x.queries[1].Filter}); diff != "" {
			t.Errorf("the tags of the project are for its documents alone: %s", diff)
		}
	})
	t.Run("attachments that are found stay where they are", func(t *testing.T) {
		t.Parallel()
		x := &sources{project: ranked("p00", "a1", "p01", "a2", "p02"), attached: ranked("a2", "a1", "a3")}
		if got := find(t, x, "talk", attachedIDs{"a"}); got != "p00 a1 p01 a2 p02 " {
			t.Error(got)
		}
		if got := find(t, &sources{attached: ranked("a3")}, "talk", attachedIDs{"a"}); got != "a3 " {
			t.Errorf("attachments alone: %s", got)
		}
	})
	t.Run("a choice that no document of the project meets is left out", func(t *testing.T) {
		t.Parallel()
		x := &sources{attached: ranked("a1")}
		chat := &scriptedChat{answers: map[string]string{"choose_filters": `{"tags":["leave"],"filters":[]}`}}
		models := retrieve.Models{Attachments: attachedIDs{"a"}, Chat: chat, Facets: fixedFacets{Tags: map[string]int{"leave": 1}}}
		r, err := retrieve.New(x, showing(all...), &lengths{}).Using(models).Retrieve(t.Context(), retrieve.Request{
			Principal: knowledgetest.Principal(knowledge.Claims{Workspace: "cranfield", ConversationID: "talk"}),
			Query:     "q", SelfQuery: true, Config: knowledge.RetrievalConfig{Strategy: "bm25"},
		})
		if err != nil || !r.Choices.Widened || len(r.Contexts) != 1 {
			t.Errorf("%v %+v, %v", scored(r), r.Choices, err)
		}
	})
	t.Run("nothing else is searched without a conversation, without attachments, or for chosen documents", func(t *testing.T) {
		t.Parallel()
		for name, ask := range map[string]func(x *sources){
			"conversation": func(x *sources) { find(t, x, "", attachedIDs{"a"}) },
			"attachments":  func(x *sources) { find(t, x, "talk", nil) },
			"documents":    func(x *sources) { find(t, x, "talk", attachedIDs{"a"}, "d") },
		} {
			x := &sources{project: ranked("p00"), attached: ranked("a1")}
			if ask(x); len(x.queries) != 1 {
				t.Errorf("%s: %d queries", name, len(x.queries))
			}
		}
	})
}
