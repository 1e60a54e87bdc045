package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testGrants(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_grant_opens_and_hides_documents":      grantsDecide,
		"denial_wins":                            denialWins,
		"a_grant_that_has_ended_has_no_effect":   endedGrants,
		"the_end_of_a_grant_is_noted_once":       notedEnds,
		"a_grant_to_write_changes_one_document":  writeGrants,
		"a_denial_of_writing_stops_a_manager":    writeDenials,
		"grants_are_listed_and_removed":          listedGrants,
		"a_grant_does_not_cross_its_boundaries":  grantBoundaries,
		"a_grant_does_not_lift_a_classification": grantsAndClearance,
	})
}

// grant adds a grant in acme.
func (f *fixture) grant(effect knowledge.GrantEffect, permission knowledge.GrantPermission, subject, object string) knowledge.Grant {
	f.Helper()
	g, err := f.AddGrant(f.ctx, manager("acme"), knowledge.Grant{
		ID: knowledge.NewID(), Subject: subject, Object: object, Effect: effect, Permission: permission, Reason: "because",
	})
	f.must(err)
	return g
}

func grantsDecide(f *fixture) {
	private, hidden := f.publish(upload("private", func(nv *store.NewVersion) { nv.Access, nv.Tags = &knowledge.Access{}, []string{"secret"} }), "private")
	shared, open := f.publish(upload("shared", func(nv *store.NewVersion) { nv.Tags = []string{"common"} }), "shared")
	ofProject := claims(func(c *knowledge.Claims) { c.Project = "handbook" })
	for name, test := range map[string]struct {
		subject, private, shared string // objects
		meant, other             knowledge.Principal
	}{
		"a_document_for_a_user": {"u:ann", "d:" + private.Document, "d:" + shared.Document, reader("ann"), reader("bob")},
		"a_tag_for_a_group":     {"g:legal", "t:secret", "t:common", reader("eve", "legal"), reader("eve", "press")},
		"a_project":             {"p:handbook", "d:" + private.Document, "d:" + shared.Document, ofProject, reader("ann")},
	} {
		allow := f.grant(knowledge.GrantAllow, knowledge.GrantRead, test.subject, test.private)
		deny := f.grant(knowledge.GrantDeny, knowledge.GrantRead, test.subject, test.shared)
		for _, who := range []struct {
			p    knowledge.Principal
			want []string
		}{{test.meant, []string{"private"}}, {test.other, []string{"shared"}}} {
			if diff := cmp.Diff(who.want, f.sees(who.p, hidden[0], open[0])); diff != "" {
				f.Errorf("%s: a search: %s", name, diff)
			}
			if diff := cmp.Diff(who.want, f.names(who.p, store.DocumentQuery{})); diff != "" {
				f.Errorf("%s: the list: %s", name, diff)
			}
			for _, v := range []store.Version{private, shared} {
				_, document := f.Document(f.ctx, who.p, v.Document)
				_, version := f.VersionFor(f.ctx, who.p, v.Document, 1)
				_, chunk := f.Chunk(f.ctx, who.p, knowledge.ChunkID(v.Document, 1, 0))
				for what, err := range map[string]error{"document": document, "version": version, "chunk": chunk} {
					if (v.Name == who.want[0]) != (err == nil) || err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
						f.Errorf("%s: the %s %s: %v", name, what, v.Name, err)
					}
				}
			}
		}
		f.must(f.RemoveGrant(f.ctx, manager("acme"), allow.ID))
		f.must(f.RemoveGrant(f.ctx, manager("acme"), deny.ID))
		if diff := cmp.Diff([]string{"shared"}, f.sees(test.meant, hidden[0], open[0])); diff != "" {
			f.Errorf("%s, when the grants are removed: %s", name, diff)
		}
	}
}

func denialWins(f *fixture) {
	v, chunks := f.publish(upload("plan", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }), "plan")
	f.grant(knowledge.GrantAllow, knowledge.GrantWrite, "u:ann", "d:"+v.Document)
	if len(f.sees(reader("ann", "press"), chunks...)) != 1 {
		f.Error("before it is denied the document is hidden")
	}
	f.grant(knowledge.GrantDeny, knowledge.GrantRead, "g:press", "p:handbook")
	if len(f.sees(reader("ann", "press"), chunks...)) != 0 || len(f.sees(reader("ann"), chunks...)) != 1 {
		f.Error("the denial of the group does not hold, or holds for others")
	}
	managing := claims(func(c *knowledge.Claims) {
		c.Scopes, c.User, c.Groups = []knowledge.Scope{knowledge.ScopeWrite}, "ann", []string{"press"}
	})
	_, err := f.Document(f.ctx, managing, v.Document)
	f.wantCode(err, knowledge.CodeNotFound)
	if _, err = f.Document(f.ctx, manager("acme"), v.Document); err != nil {
		f.Errorf("another manager: %v", err)
	}
}

func endedGrants(f *fixture) {
	v, chunks := f.publish(upload("plan", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{} }), "plan")
	for end, shows := range map[time.Duration]bool{-time.Second: false, time.Hour: true} {
		g, err := f.AddGrant(f.ctx, manager("acme"), knowledge.Grant{
			ID: knowledge.NewID(), Subject: "u:ann", Object: "d:" + v.Document, Effect: knowledge.GrantAllow, Permission: knowledge.GrantRead, ExpiresAt: time.Now().Add(end),
		})
		f.must(err)
		granted, err := f.Granted(f.ctx, reader("ann"))
		f.must(err)
		if got := len(f.sees(reader("ann"), chunks...)) == 1; got != shows || (len(granted.Allowed.Documents) == 1) != shows {
			f.Errorf("a grant that ends in %v: shown %t, for the index %+v", end, got, granted)
		}
		f.must(f.RemoveGrant(f.ctx, manager("acme"), g.ID))
	}
}

func notedEnds(f *fixture) {
	v, _ := f.publish(upload("plan"), "plan")
	now := time.Now()
	ends := []time.Time{now.Add(-3 * time.Minute), now.Add(-2 * time.Minute), now.Add(-time.Minute), now.Add(time.Hour).UTC().Truncate(time.Microsecond), {}}
	for _, end := range ends {
		_, err := f.AddGrant(f.ctx, manager("acme"), knowledge.Grant{
			ID: knowledge.NewID(), Subject: "u:ann", Object: "d:" + v.Document, Effect: knowledge.GrantAllow, Permission: knowledge.GrantRead, ExpiresAt: end,
		})
		f.must(err)
	}
	for step, want := range []struct {
		due  []string
		next time.Time
	}{{[]string{"acme"}, ends[2].UTC().Truncate(time.Microsecond)}, {[]string{"acme"}, ends[3]}, {nil, ends[3]}} {
		due, err := f.EndingGrants(f.ctx, time.Now())
		f.must(err)
		next, err := f.EndGrants(f.ctx, "acme", 2)
		f.must(err)
		if !slices.Equal(due, want.due) || !next.Equal(want.next) {
			f.Errorf("%d: grants end in %v, and then at %v, want %+v", step, due, next, want)
		}
	}
	if due, err := f.EndingGrants(f.ctx, ends[3].Add(time.Second)); err != nil || len(due) != 1 {
		f.Errorf("in an hour grants end in %v, %v", due, err)
	}
	if next, err := f.EndGrants(f.ctx, "other", 2); err != nil || !next.IsZero() {
		f.Errorf("in another workspace a grant ends at %v, %v", next, err)
	}
}

func writeGrants(f *fixture) {
	v, _ := f.publish(upload("plan"), "plan")
	other, _ := f.publish(upload("other"), "other")
	tags := []string{"changed"}
	change := func(p knowledge.Principal, id string) error {
		_, err := f.UpdateDocument(f.ctx, p, id, store.DocumentPatch{Tags: &tags})
		return err
	}
	f.wantCode(change(reader("ann"), v.Document), knowledge.CodeForbidden)
	f.grant(knowledge.GrantAllow, knowledge.GrantWrite, "u:ann", "d:"+v.Document)
	f.must(change(reader("ann"), v.Document))
	for _, refused := range []error{change(reader("ann"), other.Document), change(reader("bob"), v.Document), change(reader("ann"), "none")} {
		f.wantCode(refused, knowledge.CodeForbidden)
	}
	_, err := f.MarkRemoving(f.ctx, reader("bob"), v.Document, knowledge.NewID(), time.Now())
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.MarkRemoving(f.ctx, reader("ann"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
}

func writeDenials(f *fixture) {
	v, chunks := f.publish(upload("plan"), "plan")
	managing := claims(func(c *knowledge.Claims) { c.Scopes, c.User = []knowledge.Scope{knowledge.ScopeWrite}, "ann" })
	f.grant(knowledge.GrantDeny, knowledge.GrantWrite, "u:ann", "p:handbook")
	tags := []string{"changed"}
	_, err := f.UpdateDocument(f.ctx, managing, v.Document, store.DocumentPatch{Tags: &tags})
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.MarkRemoving(f.ctx, managing, v.Document, knowledge.NewID(), time.Now())
	f.wantCode(err, knowledge.CodeForbidden)
	_, _, err = f.AddVersion(f.ctx, upload("plan", func(nv *store.NewVersion) { nv.Uploader = managing }))
	f.wantCode(err, knowledge.CodeForbidden)
	if len(f.sees(managing, chunks...)) != 1 {
		f.Error("a denial of writing hides the document")
	}
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Tags: &tags})
	f.must(err)
}

func listedGrants(f *fixture) {
	v, _ := f.publish(upload("plan"), "plan")
	first := f.grant(knowledge.GrantAllow, knowledge.GrantRead, "u:ann", "d:"+v.Document)
	again, err := f.AddGrant(f.ctx, manager("acme"), first)
	f.must(err)
	if diff := cmp.Diff(first, again); diff != "" {
		f.Errorf("a grant that is added again: %s", diff)
	}
	second := f.grant(knowledge.GrantDeny, knowledge.GrantWrite, "g:press", "t:old")
	for subject, want := range map[string][]string{"": {second.ID, first.ID}, "u:ann": {first.ID}, "u:bob": {}} {
		list, _, err := f.Grants(f.ctx, manager("acme"), store.GrantQuery{Subject: subject})
		f.must(err)
		ids := []string{}
		for _, g := range list {
			ids = append(ids, g.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			f.Errorf("those for %q: %s", subject, diff)
		}
	}
	_, err = f.Grant(f.ctx, manager("other"), first.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.RemoveGrant(f.ctx, manager("other"), first.ID), knowledge.CodeNotFound)
	f.must(f.RemoveGrant(f.ctx, manager("acme"), first.ID))
	f.wantCode(f.RemoveGrant(f.ctx, manager("acme"), first.ID), knowledge.CodeNotFound)
}

func grantBoundaries(f *fixture) {
	v, chunks := f.publish(upload("plan"), "plan")
	for _, g := range []knowledge.Grant{
		{Subject: "u:ann", Object: "d:none"}, {Subject: "u:ann", Object: "p:none"}, {Subject: "p:none", Object: "t:x"},
	} {
		g.ID, g.Effect, g.Permission = knowledge.NewID(), knowledge.GrantAllow, knowledge.GrantRead
		_, err := f.AddGrant(f.ctx, manager("acme"), g)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	_, err := f.AddGrant(f.ctx, manager("acme"), knowledge.Grant{ID: knowledge.NewID(), Subject: "p:press", Object: "p:handbook", Effect: knowledge.GrantAllow, Permission: knowledge.GrantRead})
	f.wantField(err, "body.subject.project")
	f.grant(knowledge.GrantAllow, knowledge.GrantRead, "u:ann", "d:"+v.Document)
	inPress := claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" })
	if len(f.sees(inPress, chunks...)) != 0 || len(f.sees(reader("ann"), chunks...)) != 1 {
		f.Error("a grant opens a document to a principal of another project")
	}
	noDocuments := claims(func(c *knowledge.Claims) { c.User, c.NoDocuments = "ann", true })
	if len(f.sees(noDocuments, chunks...)) != 0 {
		f.Error("a grant opens a document to a principal that may read none")
	}
}

func grantsAndClearance(f *fixture) {
	v, chunks := f.classified("plan", "restricted")
	f.grant(knowledge.GrantAllow, knowledge.GrantRead, "u:ann", "d:"+v.Document)
	if len(f.sees(reader("ann"), chunks...)) != 0 {
		f.Error("a grant lifts the classification")
	}
}
