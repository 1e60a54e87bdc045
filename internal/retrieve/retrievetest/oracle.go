package retrievetest

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
)

// tokens are the tokens of the index's entries, as ingestion writes them.
func (r rights) tokens(workspace string) []string {
	return knowledge.ACL(workspace, r.access, r.external, r.conversation)
}

// allow reports whether the claims open a document with these rights. It
// compares names and not tokens, so that a mistake in the tokens shows.
func (r rights) allow(c knowledge.Claims) bool {
	switch {
	case r.external != "":
		return c.ExternalUser == r.external
	case r.conversation != "":
		return c.ConversationID == r.conversation
	}
	return r.access.Workspace || c.User != "" && slices.Contains(r.access.Users, c.User) ||
		slices.ContainsFunc(c.Groups, func(g string) bool { return slices.Contains(r.access.Groups, g) })
}

// sees reports whether a search of the claims in the projects, none = all,
// must return the published chunks of a document.
func (d *document) sees(c knowledge.Claims, projects []string) bool {
	return d.published.Version.Version > 0 && !d.removed && !d.inactive && c.Workspace == d.workspace &&
		(c.Project == "" || c.Project == d.project) && (len(projects) == 0 || slices.Contains(projects, d.project)) &&
		d.admits(c)
}

// admits reports whether clearance, grants and access list open a document to the claims.
func (d *document) admits(c knowledge.Claims) bool {
	return clears(c, d.rights.level) && !d.ruled(c, knowledge.GrantDeny) && (d.rights.allow(c) || d.ruled(c, knowledge.GrantAllow))
}

// with returns the document with the rights of one of its versions.
func (d *document) with(r rights) *document {
	other := *d
	other.rights = r
	return &other
}

// levels are the levels of documents and the clearances of readers, the lowest first.
var levels = []string{"public", "internal", "confidential", "restricted"}

// clears reports whether the clearance of claims reaches a level, "" = internal.
func clears(c knowledge.Claims, level string) bool {
	rank := func(level string) int { return slices.Index(levels, cmp.Or(level, "internal")) }
	return rank(level) <= rank(c.Clearance)
}

// ruled reports whether a grant of an effect on reading means the claims and the document.
func (d *document) ruled(c knowledge.Claims, effect knowledge.GrantEffect) bool {
	return slices.ContainsFunc(d.of.grants, func(g knowledge.Grant) bool {
		kind, subject, _ := strings.Cut(g.Subject, ":")
		isMeant := g.Workspace == c.Workspace && (kind == "u" && subject == c.User || kind == "g" && slices.Contains(c.Groups, subject) || kind == "p" && subject == c.Project)
		what, object, _ := strings.Cut(g.Object, ":")
		isOn := g.Workspace == d.workspace && (what == "d" && object == d.id || what == "t" && object == d.rights.tag || what == "p" && object == d.project)
		isOfReading := effect == knowledge.GrantAllow || g.Permission == knowledge.GrantRead
		return g.Effect == effect && isOfReading && isMeant && isOn
	})
}

// anyone returns random claims.
func (w *world) anyone() knowledge.Claims {
	c := knowledge.Claims{Workspace: pick(w, workspaces), Scopes: []knowledge.Scope{pick(w, scopes)}, KeyID: "key"}
	if w.one(2) {
		c.User, c.Groups = pick(w, names), some(w, names)
	}
	if w.one(3) {
		c.ExternalUser = pick(w, names)
	}
	if w.one(3) {
		c.ConversationID = pick(w, names)
	}
	if w.one(4) {
		c.Project = pick(w, projects)
	}
	c.Clearance = pick(w, levels)
	c.Covered = knowledge.Levels{}.Covered(c.Clearance)
	return c
}

var scopes = []knowledge.Scope{knowledge.ScopeRead, knowledge.ScopeWrite, knowledge.ScopeAdmin}

// holder returns the claims of somebody who could see the document before its
// last change.
func (w *world) holder(d *document) knowledge.Claims {
	c := w.anyone()
	c.Workspace, c.Project = d.workspace, ""
	if w.one(2) {
		c.Clearance, c.Covered = "restricted", knowledge.Levels{}.Covered("restricted")
	}
	r := d.former
	switch {
	case r.external != "":
		c.ExternalUser = r.external
	case r.conversation != "":
		c.ConversationID = r.conversation
	case len(r.access.Users) > 0:
		c.User = pick(w, r.access.Users)
	case len(r.access.Groups) > 0:
		c.User, c.Groups = "somebody", []string{pick(w, r.access.Groups)}
	}
	return c
}

func manager(workspace string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "manager", Covered: []string{knowledge.EveryLevel}})
}

// hashed is an Embedder whose vectors are a function of the text.
type hashed struct{}

func (hashed) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = hashOf(text)
	}
	return vectors, nil
}

// hashOf returns a random vector of eight numbers that the text seeds.
func hashOf(text string) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	vector := make([]float32, 8)
	for i := range vector {
		vector[i] = float32(r.NormFloat64())
	}
	return vector
}
