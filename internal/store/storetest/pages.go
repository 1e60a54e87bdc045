package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testPages(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"pages_follow_one_another_without_gap_or_repeat": everyPage,
		"a_wrong_limit_or_cursor_is_invalid":             wrongPage,
		"documents_are_paged_by_number_too":              byNumber,
		"a_cursor_of_chunks_ends_with_its_version":       chunkCursor,
	})
}

// lists are the lists of a store, each as the ids of one page.
func (f *fixture) lists(p knowledge.Principal, document string) map[string]func(store.Page) ([]string, string, error) {
	return map[string]func(store.Page) ([]string, string, error){
		"documents": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Documents(f.ctx, p, store.DocumentQuery{Page: page})
			return idsOf(list, func(d knowledge.Document) string { return d.ID }), next, err
		},
		"versions": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Versions(f.ctx, p, document, page)
			return idsOf(list, func(v store.Version) string { return v.RunID }), next, err
		},
		"chunks": func(page store.Page) ([]string, string, error) {
			list, next, err := f.DocumentChunks(f.ctx, p, document, page)
			return idsOf(list, func(c knowledge.Chunk) string { return c.ID }), next, err
		},
		"chunks from the second": func(page store.Page) ([]string, string, error) {
			list, next, err := f.QueryChunks(f.ctx, p, document, store.ChunkQuery{From: 1, Page: page})
			return idsOf(list, func(c knowledge.Chunk) string { return c.ID }), next, err
		},
		"found chunks": func(page store.Page) ([]string, string, error) {
			list, next, err := f.FindChunks(f.ctx, p, document, store.ChunkQuery{Page: page}, keepAll)
			return idsOf(list, func(c knowledge.Chunk) string { return c.ID }), next, err
		},
		"runs": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Runs(f.ctx, p, store.RunQuery{Page: page})
			return idsOf(list, func(r store.Run) string { return r.ID }), next, err
		},
		"projects": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Projects(f.ctx, p, page)
			return idsOf(list, func(p knowledge.Project) string { return p.ID }), next, err
		},
		"found projects": func(page store.Page) ([]string, string, error) {
			list, next, err := f.FindProjects(f.ctx, p, "p", page)
			return idsOf(list, func(p knowledge.Project) string { return p.ID }), next, err
		},
		"keys": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Keys(f.ctx, p, page)
			return idsOf(list, func(k store.Key) string { return k.ID }), next, err
		},
		"conversations": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Conversations(f.ctx, p, page)
			return idsOf(list, func(c store.Conversation) string { return c.ID }), next, err
		},
		"found conversations": func(page store.Page) ([]string, string, error) {
			list, next, err := f.SearchConversations(f.ctx, p, "talk", page)
			return idsOf(list, func(c store.Conversation) string { return c.ID }), next, err
		},
		"messages": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Messages(f.ctx, p, "talk", page)
			return idsOf(list, func(m store.Message) string { return m.ID }), next, err
		},
		"latest messages": func(page store.Page) ([]string, string, error) {
			list, next, err := f.LatestMessages(f.ctx, p, "talk", page)
			return idsOf(list, func(m store.Message) string { return m.ID }), next, err
		},
		"deliveries": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Deliveries(f.ctx, p, store.DeliveryQuery{Page: page})
			return idsOf(list, func(d store.Delivery) string { return d.ID }), next, err
		},
		"workspaces": func(page store.Page) ([]string, string, error) {
			list, next, err := f.Workspaces(f.ctx, p, page)
			return idsOf(list, func(w store.Workspace) string { return w.ID }), next, err
		},
	}
}

// keepAll finds every chunk.
func keepAll(*knowledge.Chunk) (bool, error) { return true, nil }

func idsOf[T any](list []T, id func(T) string) []string {
	ids := make([]string, 0, len(list))
	for _, item := range list {
		ids = append(ids, id(item))
	}
	return ids
}

// crowd makes at least seven of everything, many of them at the same moment.
func (f *fixture) crowd() (knowledge.Principal, string) {
	f.Helper()
	p := claims(func(c *knowledge.Claims) { c.Instance, c.Scopes = true, []knowledge.Scope{knowledge.ScopeAdmin} })
	f.hook()
	now := time.Now()
	at := func(nv *store.NewVersion) { nv.Now = now }
	for i := range 7 {
		f.check(f.add(upload(numbered("doc", i), at)))
		f.must(f.CreateProject(f.ctx, knowledge.Project{ID: numbered("p", i), Workspace: "acme", CreatedAt: now}))
		f.must(f.CreateKey(f.ctx, store.Key{ID: numbered("k", i), Hash: numbered("h", i), Workspace: "acme", CreatedAt: now}))
		f.must(f.CreateWorkspace(f.ctx, store.Workspace{ID: numbered("w", i), CreatedAt: now}))
		_, err := f.EnsureConversation(f.ctx, p, store.Conversation{ID: numbered("c", i), Title: "talk", CreatedAt: now})
		f.must(err)
		f.cite(p, "talk", numbered("m", i))
		f.publish(upload("a.txt"), "1", "2", "3", "4", "5", "6", "7", "8")
	}
	return p, upload("a.txt").DocumentID
}

func everyPage(f *fixture) {
	p, document := f.crowd()
	for name, list := range f.lists(p, document) {
		all, next, err := list(store.Page{})
		f.must(err)
		if next != "" || len(all) < 7 {
			f.Errorf("%s: %d in one page, next %q", name, len(all), next)
		}
		for _, limit := range []int{1, 3, len(all) - 1, len(all)} {
			var got []string
			page := store.Page{Limit: limit}
			for pages := 0; pages <= len(all); pages++ {
				ids, next, err := list(page)
				f.must(err)
				if len(ids) > limit || len(ids) == 0 {
					f.Errorf("%s: a page of %d with %d", name, limit, len(ids))
				}
				got = append(got, ids...)
				if page.Cursor = next; next == "" {
					break
				}
			}
			if diff := cmp.Diff(all, got); diff != "" {
				f.Errorf("%s by %d: %s", name, limit, diff)
			}
		}
	}
}

func wrongPage(f *fixture) {
	p, document := f.crowd()
	lists := f.lists(p, document)
	_, other, err := lists["projects"](store.Page{Limit: 1})
	f.must(err)
	for name, list := range lists {
		for _, limit := range []int{-1, 501, 1 << 40} {
			_, _, err := list(store.Page{Limit: limit})
			f.wantField(err, "query.limit")
		}
		if _, _, err := list(store.Page{Limit: 500}); err != nil {
			f.Errorf("%s: a limit of 500: %v", name, err)
		}
		cursors := []string{"x", "e30", "bnVsbA", "' OR 1=1 --", "\x00", "eyJsIjoiZG9jdW1lbnRzIiwibyI6IjEifQ", "W10"}
		if name != "projects" && name != "found projects" { // of the same list
			cursors = append(cursors, other)
		}
		for _, cursor := range cursors {
			_, _, err := list(store.Page{Cursor: cursor})
			f.wantField(err, "query.cursor")
		}
	}
	_, _, err = f.Documents(f.ctx, p, store.DocumentQuery{Offset: -1})
	f.wantField(err, "query.page")
}

func byNumber(f *fixture) {
	for i := range 7 {
		f.add(upload(numbered("doc", i)))
	}
	var got []string
	for offset := 0; offset < 9; offset += 3 {
		q := store.DocumentQuery{Page: store.Page{Limit: 3}, Offset: offset}
		list, _, err := f.Documents(f.ctx, manager("acme"), q)
		f.must(err)
		total, err := f.CountDocuments(f.ctx, manager("acme"), q)
		f.must(err)
		if total != 7 {
			f.Errorf("total %d", total)
		}
		got = append(got, idsOf(list, func(d knowledge.Document) string { return d.Name })...)
	}
	if diff := cmp.Diff([]string{"doc6", "doc5", "doc4", "doc3", "doc2", "doc1", "doc0"}, got); diff != "" {
		f.Error(diff)
	}
}

func chunkCursor(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "1", "2", "3")
	_, next, err := f.DocumentChunks(f.ctx, reader("ann"), v.Document, store.Page{Limit: 1})
	f.must(err)
	f.publish(upload("a.txt"), "4", "5", "6")
	_, _, err = f.DocumentChunks(f.ctx, reader("ann"), v.Document, store.Page{Limit: 1, Cursor: next})
	f.wantField(err, "query.cursor")
}
