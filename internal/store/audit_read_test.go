package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestWhoReadsTheAudit asks for the audit with and without the right.
func TestWhoReadsTheAudit(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		must(a.T, a.CreateWorkspace(a.Context(), store.Workspace{ID: "other"}))
		a.write(3)
		for name, p := range map[string]knowledge.Principal{
			"without the permission": auditor("acme", "", knowledge.DocumentsRead, knowledge.DocumentsWrite, knowledge.ProjectsAdmin),
			"of one project":         auditor("acme", "press", knowledge.AuditRead),
		} {
			_, _, listed := a.Audit(a.Context(), p, store.AuditQuery{}, store.Page{})
			_, streamed := a.AuditAfter(a.Context(), p, store.AuditQuery{}, 0, 10)
			for _, err := range []error{listed, streamed, a.CheckMayReadAudit(p)} {
				if !knowledge.IsCode(err, knowledge.CodeForbidden) {
					a.Errorf("%s: %v", name, err)
				}
			}
		}
		list, _, err := a.Audit(a.Context(), auditor("other", "", knowledge.AuditRead), store.AuditQuery{}, store.Page{})
		must(a.T, err)
		if len(list) > 0 {
			a.Errorf("another workspace reads %+v", list)
		}
		if list := a.entries(store.AuditQuery{}); len(list) != 3 {
			a.Errorf("an auditor reads %d entries, want 3", len(list))
		}
	})
}

// TestAuditFilters lists parts of an audit.
func TestAuditFilters(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		begin := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
		for i, object := range []string{"a", "b", "c", "d"} {
			must(a.T, a.recorder.Record(a.Context(), audit.Row{ID: object, Workspace: "acme", Entry: audit.Entry{
				At: begin.Add(time.Duration(i) * time.Minute), Actor: "key:" + object, Action: "get-" + object, Object: object, RequestID: object,
				Details: []byte(`{"documents":["document-` + object + `","shared"]}`),
			}}))
		}
		must(a.T, a.keeper.Keep(a.Context()))
		for name, c := range map[string]struct {
			query store.AuditQuery
			want  []string
		}{
			"all":           {store.AuditQuery{}, []string{"d", "c", "b", "a"}},
			"since":         {store.AuditQuery{Since: begin.Add(2 * time.Minute)}, []string{"d", "c"}},
			"until":         {store.AuditQuery{Until: begin.Add(2 * time.Minute)}, []string{"b", "a"}},
			"actor":         {store.AuditQuery{Actor: "key:b"}, []string{"b"}},
			"action":        {store.AuditQuery{Action: "get-c"}, []string{"c"}},
			"object":        {store.AuditQuery{Object: "a"}, []string{"a"}},
			"document":      {store.AuditQuery{Object: "document-d"}, []string{"d"}},
			"of several":    {store.AuditQuery{Object: "shared"}, []string{"d", "c", "b", "a"}},
			"none":          {store.AuditQuery{Object: "document-"}, nil},
			"two at a time": {store.AuditQuery{Object: "shared", Actor: "key:a"}, []string{"a"}},
		} {
			var got []string
			for _, e := range a.entries(c.query) {
				got = append(got, e.Object)
			}
			if !slices.Equal(got, c.want) {
				a.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		p := auditor("acme", "", knowledge.AuditRead)
		first, next, err := a.Audit(a.Context(), p, store.AuditQuery{}, store.Page{Limit: 3})
		must(a.T, err)
		rest, last, err := a.Audit(a.Context(), p, store.AuditQuery{}, store.Page{Limit: 3, Cursor: next})
		must(a.T, err)
		if len(first) != 3 || len(rest) != 1 || last != "" || rest[0].Seq != 1 {
			a.Errorf("the pages have %d and %d entries, then %q", len(first), len(rest), last)
		}
	})
}
