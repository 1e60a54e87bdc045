package indextest

import (
	"fmt"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
)

func acl(tokens ...string) func(*index.Entry) { return func(e *index.Entry) { e.ACL = tokens } }

func in(workspace, project string) func(*index.Entry) {
	return func(e *index.Entry) {
		e.Workspace, e.Project = workspace, project
		e.ACL = []string{"w:" + workspace}
	}
}

func testPermission(t *testing.T, open Open) {
	t.Run("each kind of token opens only entries with that token", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open,
			entry("everybody", "common"),
			entry("alice", "common", acl("u:alice")),
			entry("finance", "common", acl("g:finance", "g:board")),
			entry("customer", "common", acl("x:customer-7")),
			entry("attachment", "common", acl("s:conversation-1")),
			entry("nobody", "common", acl()),
		)
		for name, test := range map[string]struct {
			claims knowledge.Claims
			want   []string
		}{
			"a member":                          {knowledge.Claims{}, []string{"everybody"}},
			"a user":                            {knowledge.Claims{User: "alice"}, []string{"everybody", "alice"}},
			"another user":                      {knowledge.Claims{User: "alic"}, []string{"everybody"}},
			"a group":                           {knowledge.Claims{Groups: []string{"x", "board"}}, []string{"everybody", "finance"}},
			"an external user":                  {knowledge.Claims{ExternalUser: "customer-7"}, []string{"everybody", "customer"}},
			"a conversation":                    {knowledge.Claims{ConversationID: "conversation-1"}, []string{"everybody", "attachment"}},
			"an administrator":                  {knowledge.Claims{Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Instance: true}, []string{"everybody"}},
			"a user named like another's token": {knowledge.Claims{User: `x","u:alice`}, []string{"everybody"}},
		} {
			t.Run(name, func(t *testing.T) {
				test.claims.Workspace = workspace
				f := f
				f.T = t
				f.bothFind(index.Query{Principal: knowledgetest.Principal(test.claims)}, test.want...)
			})
		}
	})
	t.Run("a clearance bounds what is found", func(t *testing.T) {
		t.Parallel()
		testClearance(t, open)
	})
	t.Run("grants open and hide entries", func(t *testing.T) {
		t.Parallel()
		testGranted(t, open)
	})
	t.Run("a principal without tokens is refused", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open, entry("everybody", "common"))
		f.bothFail(index.Query{Limit: 10}, knowledge.CodeForbidden)
		f.bothFail(index.Query{Limit: 10, Principal: knowledgetest.Principal(knowledge.Claims{User: "alice"})}, knowledge.CodeForbidden)
	})
	t.Run("a workspace never sees another's entries", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open,
			entry("ours", "common"),
			entry("theirs", "common", in("other", project)),
			// A token of this workspace on another workspace's entry opens nothing.
			entry("stray", "common", in("other", project), acl("w:"+workspace)),
		)
		f.bothFind(index.Query{Principal: member()}, "ours")
		f.bothFind(index.Query{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: "third"})})
	})
	t.Run("projects narrow, and a principal's project restricts", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open,
			entry("a", "common", in(workspace, "one")),
			entry("b", "common", in(workspace, "two")),
			entry("c", "common", in(workspace, "three")),
		)
		f.bothFind(index.Query{Principal: member()}, "a", "b", "c")
		f.bothFind(index.Query{Principal: member(), Projects: []string{"two"}}, "b")
		f.bothFind(index.Query{Principal: member(), Projects: []string{"one", "three", "one"}}, "a", "c")
		f.bothFind(index.Query{Principal: member(), Projects: []string{"four"}})
		bound := knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Project: "two"})
		f.bothFind(index.Query{Principal: bound}, "b")
		f.bothFail(index.Query{Principal: bound, Projects: []string{"one"}, Limit: 10}, knowledge.CodeForbidden)
		f.bothFail(index.Query{Principal: bound, Projects: []string{"two", "one"}, Limit: 10}, knowledge.CodeForbidden)
	})
	t.Run("few allowed entries are found among many that are not", func(t *testing.T) {
		t.Parallel()
		testFewAllowed(t, open)
	})
}

// testFewAllowed puts the allowed entries behind many nearer ones: a search
// that drops entries after a fixed number of neighbours fails it.
func testFewAllowed(t *testing.T, open Open) {
	const hidden, allowed = 600, 550
	var entries []index.Entry
	for i := range hidden {
		entries = append(entries, entry(fmt.Sprintf("hidden-%04d", i), "common common", acl("u:somebody")))
	}
	var want []string
	for i := range allowed {
		e := entry(fmt.Sprintf("allowed-%04d", i), "common and rare words besides", func(e *index.Entry) {
			e.Vector = []float32{1, float32(1 + i), 0, 0} // later entries are farther
			if i < 5 {
				e.ACL = append(e.ACL, "u:alice")
				e.Tags = []string{"few"}
			}
		})
		entries = append(entries, e)
		if i < 10 {
			want = append(want, e.ChunkID)
		}
	}
	f := newFixture(t, open, entries...)
	q := index.Query{Principal: member(), Limit: 10}
	f.inOrder("dense", f.dense(q, 1, 0, 0, 0), want...)
	f.inOrder("BM25", f.words(q, "common"), want...)
	q.Filter = knowledge.Filter{{Field: "tags", Type: knowledge.OpEq, Value: "few"}}
	f.inOrder("dense of few", f.dense(q, 1, 0, 0, 0), want[:5]...)
	f.inOrder("BM25 of few", f.words(q, "common"), want[:5]...)
	q.Filter = knowledge.Filter{{Field: "tags", Type: knowledge.OpNe, Value: "few"}}
	q.Limit = 5
	f.inOrder("dense of the rest", f.dense(q, 1, 0, 0, 0), want[5:]...)
}

func testClearance(t *testing.T, open Open) {
	var entries []index.Entry
	for _, level := range []string{"", "public", "internal", "confidential", "restricted", "other"} {
		entries = append(entries, entry("of-"+level, "common", func(e *index.Entry) { e.Classification = level }))
	}
	f := newFixture(t, open, entries...)
	for level, want := range map[string][]string{
		"public": {"of-public"}, "internal": {"of-", "of-public", "of-internal"}, "confidential": {"of-", "of-public", "of-internal", "of-confidential"},
		"restricted": {"of-", "of-public", "of-internal", "of-confidential", "of-restricted", "of-other"},
	} {
		p := knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Covered: knowledge.Levels{}.Covered(level)})
		f.bothFind(index.Query{Principal: p}, want...)
	}
	f.bothFind(index.Query{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: workspace})}, "of-", "of-public", "of-internal")
}

func testGranted(t *testing.T, open Open) {
	tagged := func(e *index.Entry) { e.Tags = []string{"x", "y"} }
	f := newFixture(t, open,
		entry("open", "common"), entry("tagged", "common", tagged), entry("private", "common", acl("u:alice")), entry("nobody", "common", acl(), tagged),
		entry("elsewhere", "common", in(workspace, "two"), acl("u:alice")), entry("foreign", "common", in("other", project), tagged),
		entry("restricted", "common", acl(), func(e *index.Entry) { e.Classification = "restricted" }),
	)
	reader := knowledgetest.Principal(knowledge.Claims{Workspace: workspace})
	all := knowledge.Objects{Documents: []string{"private", "foreign", "restricted"}, Tags: []string{"y"}, Projects: []string{"two"}}
	for name, test := range map[string]struct {
		granted knowledge.Granted
		want    []string
	}{
		"nothing is granted":   {knowledge.Granted{}, []string{"open", "tagged"}},
		"a document":           {knowledge.Granted{Allowed: knowledge.Objects{Documents: []string{"private"}}}, []string{"open", "tagged", "private"}},
		"a tag":                {knowledge.Granted{Allowed: knowledge.Objects{Tags: []string{"y", "z"}}}, []string{"open", "tagged", "nobody"}},
		"a project":            {knowledge.Granted{Allowed: knowledge.Objects{Projects: []string{"two"}}}, []string{"open", "tagged", "elsewhere"}},
		"all of them":          {knowledge.Granted{Allowed: all}, []string{"open", "tagged", "private", "nobody", "elsewhere"}},
		"a document is denied": {knowledge.Granted{Denied: knowledge.Objects{Documents: []string{"open"}}}, []string{"tagged"}},
		"denial wins":          {knowledge.Granted{Allowed: all, Denied: knowledge.Objects{Tags: []string{"x"}}}, []string{"open", "private", "elsewhere"}},
		"a project is denied":  {knowledge.Granted{Allowed: all, Denied: knowledge.Objects{Projects: []string{project}}}, []string{"elsewhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := f
			f.T = t
			f.bothFind(index.Query{Principal: reader, Granted: test.granted}, test.want...)
		})
	}
	f.bothFind(index.Query{Principal: reader, Granted: knowledge.Granted{Allowed: all}, Projects: []string{"two"}}, "elsewhere")
}
