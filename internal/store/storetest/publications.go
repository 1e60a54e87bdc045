package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
)

func testPublications(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_publication_is_found_by_its_slug":     publicationFound,
		"a_slug_belongs_to_one":                  publicationTaken,
		"they_belong_to_their_project":           publicationsApart,
		"they_go_with_their_project":             publicationGone,
		"a_change_that_fails_changes_nothing":    publicationUnchanged,
		"a_project_that_is_not_there_is_refused": publicationTooLate,
	})
}

// publishAs publishes a project of the workspace acme.
func (f *fixture) publishAs(project, slug string) (knowledge.Publication, bool, error) {
	return f.PutPublication(f.ctx, manager("acme"), project, func(p *knowledge.Publication) error {
		p.Slug, p.Sealed = slug, "v1:sealed"
		p.PublicationSettings = knowledge.PublicationSettings{
			Visibility: knowledge.VisiblePublic, Title: "Guide of " + project, Starters: []string{"What?"}, AllowedOrigins: []string{"https://www.example.com"},
			Limits: knowledge.PublicationLimits{VisitorRequests: 5},
		}
		return nil
	})
}

func publicationFound(f *fixture) {
	stored, created, err := f.publishAs("handbook", "guide")
	f.must(err)
	found, err := f.PublicationBySlug(f.ctx, "guide")
	f.must(err)
	own, err := f.Publication(f.ctx, manager("acme"), "handbook")
	f.must(err)
	if diff := cmp.Diff(stored, found) + cmp.Diff(stored, own); diff != "" || !created || found.Workspace != "acme" || found.Title != "Guide of handbook" || found.CreatedAt.IsZero() {
		f.Errorf("created %t, %+v: %s", created, found, diff)
	}
	again, created, err := f.publishAs("handbook", "leader")
	f.must(err)
	if created || !again.CreatedAt.Equal(stored.CreatedAt) || again.Sealed != stored.Sealed {
		f.Errorf("created %t, %+v", created, again)
	}
	_, err = f.PublicationBySlug(f.ctx, "guide")
	f.wantCode(err, knowledge.CodeNotFound)
	f.must(f.RemovePublication(f.ctx, manager("acme"), "handbook"))
	_, err = f.PublicationBySlug(f.ctx, "leader")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.RemovePublication(f.ctx, manager("acme"), "handbook"), knowledge.CodeNotFound)
}

func publicationTaken(f *fixture) {
	_, _, err := f.publishAs("handbook", "guide")
	f.must(err)
	_, _, err = f.publishAs("press", "guide")
	f.wantCode(err, knowledge.CodeConflict)
	_, _, err = f.publishAs("press", "guide-2")
	f.must(err)
}

func publicationsApart(f *fixture) {
	_, _, err := f.publishAs("handbook", "guide")
	f.must(err)
	_, _, err = f.publishAs("press", "press")
	f.must(err)
	press := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: "press", KeyID: "k", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want int
	}{"the workspace": {manager("acme"), 2}, "one project": {press, 1}, "another workspace": {manager("other"), 0}} {
		if list, err := f.Publications(f.ctx, test.p); err != nil || len(list) != test.want {
			f.Errorf("%s has %v, %v", name, list, err)
		}
	}
	for _, p := range []knowledge.Principal{press, manager("other")} {
		_, err = f.Publication(f.ctx, p, "handbook")
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.RemovePublication(f.ctx, p, "handbook"), knowledge.CodeNotFound)
	}
	_, _, err = f.PutPublication(f.ctx, press, "handbook", func(*knowledge.Publication) error { return nil })
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.Publications(f.ctx, knowledge.Principal{})
	f.wantCode(err, knowledge.CodeForbidden)
}

func publicationGone(f *fixture) {
	_, _, err := f.publishAs("handbook", "guide")
	f.must(err)
	f.removeProject()
	_, err = f.PublicationBySlug(f.ctx, "guide")
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.publishAs("handbook", "guide")
	f.wantCode(err, knowledge.CodeNotFound)
}

func publicationUnchanged(f *fixture) {
	_, _, err := f.publishAs("handbook", "guide")
	f.must(err)
	wrong := errors.New("wrong")
	_, _, err = f.PutPublication(f.ctx, manager("acme"), "handbook", func(p *knowledge.Publication) error {
		p.Slug = "other"
		return wrong
	})
	if !errors.Is(err, wrong) {
		f.Errorf("the error is %v", err)
	}
	_, err = f.PublicationBySlug(f.ctx, "guide")
	f.must(err)
}

func publicationTooLate(f *fixture) {
	_, _, err := f.publishAs("nothing", "guide")
	f.wantCode(err, knowledge.CodeNotFound)
}
