package access_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// explained is an instance with an administrator and a published document that ann and the
// group legal see.
type explained struct {
	instance
	*testing.T
	admin    knowledge.Principal
	document store.Version
}

func openExplained(t *testing.T) explained {
	t.Helper()
	x := explained{instance: open(t, access.Config{}), T: t}
	x.must(x.store.CreateProject(t.Context(), knowledge.Project{ID: "handbook", Workspace: "default", Name: "Handbook"}))
	x.admin = x.principal(t, access.Credentials{Key: x.key(t, store.Key{Workspace: "default", Name: "admin", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})})
	x.document = x.publish("contract", &knowledge.Access{Users: []string{"ann"}, Groups: []string{"legal"}}, "")
	return x
}

func (x explained) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x explained) publish(name string, a *knowledge.Access, conversation string) store.Version {
	x.Helper()
	_, v, err := x.store.AddVersion(x.Context(), store.NewVersion{
		Workspace: "default", Project: "handbook", DocumentID: knowledge.DocumentID("default", "handbook", name), ExternalID: name, Name: name, MediaType: "text/plain", Bytes: 1,
		SourceKey: name, Access: a, ConversationID: &conversation, RunID: knowledge.NewID(), Now: time.Now(),
	})
	x.must(err)
	_, err = x.store.BeginVersion(x.Context(), v.VersionRef, v.RunID, 0)
	x.must(err)
	x.must(x.store.SetStage(x.Context(), v.VersionRef, knowledge.StageChunk, .5, store.Facts{ChunkCount: 1}))
	chunk := knowledge.Chunk{ID: knowledge.ChunkID(v.Document, v.Version, 0), DocumentID: v.Document, Version: v.Version, Text: name}
	_, err = x.store.PublishVersion(x.Context(), store.Publication{Ref: v.VersionRef, RunID: v.RunID, Chunks: []knowledge.Chunk{chunk}, End: &store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}})
	x.must(err)
	return v
}

func (x explained) explainer() *access.Explainer {
	return access.New(access.Config{}, x.store, []byte("secret")).Explainer(x.store, time.Now)
}

// because returns whether a reader sees a document, and the reasons as kind, id and effect.
func (x explained) because(document string, r access.Reader) (allowed bool, reasons []string) {
	x.Helper()
	e, err := x.explainer().Explain(x.Context(), x.admin, document, r)
	x.must(err)
	for _, reason := range e.Because {
		if reason.Detail == "" {
			x.Errorf("the reason %s has no detail", reason.Kind)
		}
		if reason.Kind == access.ReasonKind(store.RuleRemoval) || reason.Kind == access.KindHold {
			reason.ID = "" // of the document
		}
		reasons = append(reasons, string(reason.Kind)+" "+reason.ID+" "+string(reason.Effect))
	}
	return e.Allowed, reasons
}

func TestExplain(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	before := []string{"workspace default allow", "project handbook allow", "removal  allow", "status published allow", "version 1 allow", "classification  allow"}
	for _, tc := range []struct {
		behaviour string
		reader    access.Reader
		allowed   bool
		last      []string
	}{
		{"a user of the access list", access.Reader{User: "ann"}, true, []string{"user ann allow"}},
		{"a member of two groups", access.Reader{User: "bob", Groups: []string{"press", "legal"}}, true, []string{"group legal allow"}},
		{"a user and member", access.Reader{User: "ann", Groups: []string{"legal"}}, true, []string{"group legal allow", "user ann allow"}},
		{"somebody else", access.Reader{User: "bob", Groups: []string{"press"}}, false, []string{"access " + x.document.Document + " deny"}},
		{"a customer with the name of a user", access.Reader{ExternalUser: "ann"}, false, []string{"access " + x.document.Document + " deny"}},
		{"nobody in particular", access.Reader{}, false, []string{"access " + x.document.Document + " deny"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			allowed, got := x.because(x.document.Document, tc.reader)
			if diff := cmp.Diff(append(before[:len(before):len(before)], tc.last...), got); diff != "" || allowed != tc.allowed {
				t.Errorf("allowed %t: %s", allowed, diff)
			}
		})
	}
}

func TestExplainNamesAHold(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	_, err := x.store.UpdateDocument(t.Context(), x.admin, x.document.Document, store.DocumentPatch{LegalHold: new(true)})
	x.must(err)
	allowed, got := x.because(x.document.Document, access.Reader{User: "ann"})
	if !allowed || got[len(got)-1] != "hold  none" {
		t.Errorf("allowed %t because %q", allowed, got)
	}
}

func TestExplainOfAKey(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	add := func(name, project, maker string, scope knowledge.Scope, end time.Time) string {
		k := store.Key{ID: knowledge.NewID(), Workspace: "default", Project: project, Name: name, Hash: name, Scopes: []knowledge.Scope{scope}, CreatedBy: maker, ExpiresAt: end}
		x.must(x.store.CreateKey(t.Context(), k))
		return k.ID
	}
	x.must(x.store.CreateProject(t.Context(), knowledge.Project{ID: "press", Workspace: "default", Name: "Press"}))
	maker := add("maker", "press", "", knowledge.ScopeAdmin, time.Time{})
	revoked := add("revoked", "", "", knowledge.ScopeRead, time.Time{})
	x.must(x.store.RevokeKey(t.Context(), x.admin, revoked))
	for _, tc := range []struct {
		behaviour, key string
		allowed        bool
		has            string
	}{
		{"a key of the workspace", add("good", "", "", knowledge.ScopeRead, time.Now().Add(time.Hour)), true, "key KEY allow"},
		{"one that has expired", add("old", "", "", knowledge.ScopeRead, time.Now().Add(-time.Hour)), false, "key KEY deny"},
		{"one that was revoked", revoked, false, "key KEY deny"},
		{"one whose maker is held to another project", add("made", "", maker, knowledge.ScopeRead, time.Time{}), false, "maker " + maker + " allow"},
		{"one of another project", add("other", "press", "", knowledge.ScopeRead, time.Time{}), false, "project handbook deny"},
		{"one that writes", add("writer", "", "", knowledge.ScopeWrite, time.Time{}), true, "key KEY allow"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			allowed, got := x.because(x.document.Document, access.Reader{User: "ann", KeyID: tc.key})
			want := tc.has
			if want == "key KEY allow" || want == "key KEY deny" {
				want = "key " + tc.key + want[len("key KEY"):]
			}
			found := false
			for _, reason := range got {
				found = found || reason == want
			}
			if allowed != tc.allowed || !found {
				t.Errorf("allowed %t because %q, want %s", allowed, got, want)
			}
		})
	}
	allowed, got := x.because(x.document.Document, access.Reader{KeyID: add("keeper", "", "", knowledge.ScopeWrite, time.Time{})})
	if allowed || got[len(got)-1] != "scope write none" {
		t.Errorf("a key with the write scope alone is allowed %t because %q", allowed, got)
	}
}

func TestExplainOfAConversation(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	_, err := x.store.EnsureConversation(t.Context(), x.principalOf(t, access.Acting{User: "ann"}), store.Conversation{ID: "talk"})
	x.must(err)
	v := x.publish("attached", &knowledge.Access{}, "talk")
	allowed, got := x.because(v.Document, access.Reader{User: "ann", Conversation: "talk"})
	if !allowed || got[len(got)-1] != "conversation talk allow" {
		t.Errorf("allowed %t because %q", allowed, got)
	}
	if allowed, got = x.because(v.Document, access.Reader{User: "ann"}); allowed {
		t.Errorf("without the conversation it is allowed because %q", got)
	}
	_, err = x.explainer().Explain(t.Context(), x.admin, v.Document, access.Reader{User: "bob", Conversation: "talk"})
	if !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("the conversation of another: %v", err)
	}
}

// principalOf returns a principal that acts for somebody.
func (x explained) principalOf(t *testing.T, acting access.Acting) knowledge.Principal {
	t.Helper()
	p, err := x.As(t.Context(), x.admin, acting)
	x.must(err)
	return p
}

func TestExplainRefuses(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	writer := x.principal(t, access.Credentials{Key: x.key(t, store.Key{Workspace: "default", Name: "writer", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})})
	for name, tc := range map[string]struct {
		asker    knowledge.Principal
		document string
		reader   access.Reader
		code     knowledge.Code
	}{
		"a writer":                   {writer, x.document.Document, access.Reader{User: "ann"}, knowledge.CodeForbidden},
		"an unknown document":        {x.admin, "none", access.Reader{User: "ann"}, knowledge.CodeNotFound},
		"an unknown key":             {x.admin, x.document.Document, access.Reader{KeyID: "none"}, knowledge.CodeNotFound},
		"two kinds of people":        {x.admin, x.document.Document, access.Reader{User: "ann", ExternalUser: "42"}, knowledge.CodeInvalid},
		"groups of a key":            {x.admin, x.document.Document, access.Reader{KeyID: "k", Groups: []string{"legal"}}, knowledge.CodeInvalid},
		"groups of an external user": {x.admin, x.document.Document, access.Reader{ExternalUser: "42", Groups: []string{"legal"}}, knowledge.CodeInvalid},
		"a name with a line break":   {x.admin, x.document.Document, access.Reader{User: "a\nb"}, knowledge.CodeInvalid},
	} {
		if _, err := x.explainer().Explain(t.Context(), tc.asker, tc.document, tc.reader); !knowledge.IsCode(err, tc.code) {
			t.Errorf("%s: %v, want %s", name, err, tc.code)
		}
	}
}
