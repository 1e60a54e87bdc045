package storetest

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testConsents(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_withdrawal_hides_documents_at_once":     withdrawnConsent,
		"a_hold_keeps_a_withdrawn_document_hidden": withdrawnUnderHold,
		"a_version_without_consent_is_not_shown":   consentRequired,
		"the_subjects_of_a_patch_count":            patchedSubjects,
		"consents_are_of_the_whole_workspace":      closedConsents,
		"an_import_without_consent_is_tried_again": importWithoutConsent,
	})
}

// about makes an upload name subjects.
func about(people ...string) func(*store.NewVersion) {
	return func(nv *store.NewVersion) { nv.Subjects = people }
}

func (f *fixture) consent(subject string) knowledge.Consent {
	f.Helper()
	c, err := f.AddConsent(f.ctx, manager("acme"), knowledge.Consent{ID: knowledge.NewID(), Subject: subject, Purpose: "records", Evidence: "form 7"})
	f.must(err)
	return c
}

// requireConsents makes the project handbook of acme require them.
func (f *fixture) requireConsents() {
	f.Helper()
	required := true
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Config.Privacy.ConsentRequired = &required
		return nil
	})
	f.must(err)
}

func withdrawnConsent(f *fixture) {
	ann, first := f.publish(upload("ann", about("ann", "bob")), "one")
	press, _ := f.publish(upload("press", about("ann"), func(nv *store.NewVersion) { nv.Project = "press" }), "two")
	pending := f.add(upload("pending", about("ann")))
	bob, other := f.publish(upload("bob", about("bob", "annette")), "three")
	elsewhere := f.add(upload("elsewhere", about("ann"), func(nv *store.NewVersion) { nv.Workspace = "other" }))
	c := f.consent("ann")
	w, err := f.WithdrawConsent(f.ctx, manager("acme"), c.ID)
	f.must(err)
	got := map[string]bool{}
	for _, r := range w.Removals {
		got[r.Document] = true
	}
	if len(w.Removals) != 3 || !got[ann.Document] || !got[press.Document] || !got[pending.Document] || len(w.Kept) != 0 || w.Consent.WithdrawnBy != "k:manager" {
		f.Errorf("the withdrawal is %+v", w)
	}
	if len(f.sees(reader("x"), first...)) != 0 || len(f.sees(reader("x"), other...)) != 1 {
		f.Error("readers see the document, or not the one of another person")
	}
	if d := f.document(bob.Document); d.Status != knowledge.StatusPublished || strings.Join(d.Subjects, " ") != "bob annette" {
		f.Errorf("the document of another person is %+v", d)
	}
	if v, err := f.Version(f.ctx, elsewhere.VersionRef); err != nil || v.Removing {
		f.Errorf("a document of another workspace: %+v, %v", v, err)
	}
	_, err = f.WithdrawConsent(f.ctx, manager("acme"), c.ID)
	f.wantCode(err, knowledge.CodeConflict)
	f.must(f.RemoveRows(f.ctx, w.Removals[0]))
	active, _, err := f.Consents(f.ctx, manager("acme"), store.ConsentQuery{Subject: "ann", Active: true}, store.Page{})
	all, _, all2 := f.Consents(f.ctx, manager("acme"), store.ConsentQuery{Subject: "ann"}, store.Page{})
	if err != nil || all2 != nil || len(active) != 0 || len(all) != 1 || all[0].Evidence != "form 7" {
		f.Errorf("listed are %+v and %+v, %v, %v", active, all, err, all2)
	}
}

func withdrawnUnderHold(f *fixture) {
	v, chunks := f.publish(upload("ann", about("ann")), "one")
	h := f.hold("Smith", nil, v.Document)
	c := f.consent("ann")
	w, err := f.WithdrawConsent(f.ctx, manager("acme"), c.ID)
	f.must(err)
	if len(w.Removals) != 0 || len(w.Kept) != 1 || w.Kept[0].Document != v.Document || !strings.Contains(w.Kept[0].Holds, "Smith") || !strings.Contains(w.Kept[0].Holds, h.ID) {
		f.Fatalf("the withdrawal is %+v", w)
	}
	if len(f.sees(reader("x"), chunks...)) != 0 || f.document(v.Document).Status != knowledge.StatusInactive {
		f.Error("readers see the document under hold")
	}
	shown := knowledge.StatusPublished
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Status: &shown})
	f.wantCode(err, knowledge.CodeConflict)
	if removals, err := f.RemoveWithdrawn(f.ctx, 10); err != nil || len(removals) != 0 {
		f.Errorf("under hold %v is removed, %v", removals, err)
	}
	_, err = f.LiftHold(f.ctx, manager("acme"), h.ID, "settled")
	f.must(err)
	removals, err := f.RemoveWithdrawn(f.ctx, 10)
	f.must(err)
	if len(removals) != 1 || removals[0].Document != v.Document {
		f.Errorf("after the hold %v are removed", removals)
	}
	if again, err := f.RemoveWithdrawn(f.ctx, 10); err != nil || len(again) != 0 {
		f.Errorf("a repetition removes %v, %v", again, err)
	}
}

func consentRequired(f *fixture) {
	_, _ = f.publish(upload("before", about("nobody")), "one") // the project does not require it yet
	f.requireConsents()
	_, _ = f.publish(upload("plain"), "two")
	v := f.add(upload("ann", about("ann", "bob")))
	f.consent("bob")
	f.wantCode(f.CheckConsents(f.ctx, v.VersionRef), knowledge.CodeConsentMissing)
	f.wantCode(f.CheckSubjects(f.ctx, "acme", "handbook", []string{"bob", "ann"}), knowledge.CodeConsentMissing)
	f.must(f.CheckSubjects(f.ctx, "acme", "handbook", []string{"bob"}))
	f.must(f.CheckSubjects(f.ctx, "acme", "press", []string{"ann"}))
	_, err := f.Publish(f.ctx, v.VersionRef)
	f.wantCode(err, knowledge.CodeConsentMissing)
	if d := f.document(v.Document); d.PublishedVersion != 0 {
		f.Errorf("published is version %d", d.PublishedVersion)
	}
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeConsentMissing, Stage: knowledge.StageCheck, Message: "x"}))
	again := f.retry(v)
	c := f.consent("ann")
	f.must(f.CheckConsents(f.ctx, again.VersionRef))
	done, err := f.Publish(f.ctx, again.VersionRef)
	if err != nil || !done.Done {
		f.Errorf("with the consent: %+v, %v", done, err)
	}
	_, err = f.WithdrawConsent(f.ctx, manager("acme"), c.ID)
	f.must(err)
	f.wantCode(f.CheckSubjects(f.ctx, "acme", "handbook", []string{"ann"}), knowledge.CodeConsentMissing)
}

func patchedSubjects(f *fixture) {
	v, _ := f.publish(upload("a", about("ann")), "one")
	f.add(upload("a")) // inherits them
	bob := []string{"bob"}
	d, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Subjects: &bob})
	f.must(err)
	if len(d.Subjects) != 1 || d.Subjects[0] != "bob" {
		f.Errorf("the subjects are %v", d.Subjects)
	}
	w, err := f.WithdrawConsent(f.ctx, manager("acme"), f.consent("ann").ID)
	if err != nil || len(w.Removals) != 0 {
		f.Errorf("of a former subject: %+v, %v", w, err)
	}
	w, err = f.WithdrawConsent(f.ctx, manager("acme"), f.consent("bob").ID)
	if err != nil || len(w.Removals) != 1 || w.Removals[0].Upto != 2 {
		f.Errorf("of the subject: %+v, %v", w, err)
	}
}

func closedConsents(f *fixture) {
	c := f.consent("ann")
	held := claims(func(c *knowledge.Claims) { c.Scopes, c.Project = []knowledge.Scope{knowledge.ScopeAdmin}, "handbook" })
	_, err := f.Consent(f.ctx, held, c.ID)
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.WithdrawConsent(f.ctx, held, c.ID)
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.Consent(f.ctx, manager("other"), c.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.WithdrawConsent(f.ctx, manager("other"), c.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	if got, err := f.Consent(f.ctx, manager("acme"), c.ID); err != nil || got.Subject != "ann" || !got.WithdrawnAt.IsZero() {
		f.Errorf("the consent is %+v, %v", got, err)
	}
}

func importWithoutConsent(f *fixture) {
	f.requireConsents()
	i := f.imported("s3://a")
	f.listPage(i, 0, listed("a", "1"))
	nv := f.object(i, "a")
	nv.Subjects = []string{"ann"}
	claims, err := f.ClaimVersions(f.ctx, []store.NewVersion{nv}, knowledge.LimitsConfig{})
	f.must(err)
	record := store.ImportRecord{Published: []store.ImportedVersion{importedVersion(claims[0], "a")}}
	_, err = f.RecordImported(f.ctx, i, record)
	f.wantCode(err, knowledge.CodeConsentMissing)
	if e := knowledge.AsError(err); !e.Retryable {
		f.Error("the batch is not tried again")
	}
	f.consent("ann")
	if _, err = f.RecordImported(f.ctx, i, record); err != nil {
		f.Errorf("with the consent: %v", err)
	}
	if d := f.document(nv.DocumentID); d.PublishedVersion != 1 {
		f.Errorf("published is version %d", d.PublishedVersion)
	}
}
