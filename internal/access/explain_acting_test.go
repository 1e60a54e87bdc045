package access_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestExplainAgreesWithKeysThatActForMembers explains what a key finds for people whom an identity
// provider and a followed service know, by each of their names, and compares it with what the key may
// read for them.
func TestExplainAgreesWithKeysThatActForMembers(t *testing.T) {
	t.Parallel()
	x := openExplained(t)
	for id, name := range map[string]string{"1": "ann", "2": "bob", "3": "eve"} {
		_, err := x.store.AddProvisionedUser(t.Context(), x.admin, store.ProvisionedUser{ID: id, Name: name, ExternalID: "okta-" + name, Active: name != "eve", Attributes: "{}"}, nil, "reader")
		x.must(err)
	}
	x.inGroup(t, "s:pier", "bob", "eve", "kim")
	documents := map[string]string{}
	for name, a := range map[string]*knowledge.Access{
		"for_ann": {Users: []string{"ann"}}, "for_eve": {Users: []string{"eve"}}, "for_the_pier": {Groups: []string{"s:pier"}}, "for_all": {Workspace: true},
	} {
		documents[name] = x.publish(name, a, "").Document
	}
	key := access.Credentials{Key: x.key(t, store.Key{Workspace: "default", Name: "application", Scopes: []knowledge.Scope{knowledge.ScopeRead}})}
	p := x.principal(t, key)
	rights := access.New(access.Config{}, x.store, []byte("secret"))
	for _, user := range []string{"ann", "okta-ann", "bob", "okta-bob", "eve", "okta-eve", "kim", "nobody"} {
		acting, refused := rights.As(t.Context(), p, access.Acting{User: user})
		for document, id := range documents {
			reads := false
			if refused == nil {
				_, err := x.store.Document(t.Context(), acting, id)
				reads = err == nil
			}
			explained, err := x.explainer().Explain(t.Context(), x.admin, id, access.Reader{User: user, KeyID: p.KeyID()})
			if err != nil || explained.Allowed != reads {
				t.Errorf("%s reads %s: %t, %v; explained: %t because %+v, %v", user, document, reads, refused, explained.Allowed, explained.Because, err)
			}
			if user == "nobody" && reads != (document == "for_all") {
				t.Errorf("nobody reads %s: %t", document, reads)
			}
		}
	}
}
