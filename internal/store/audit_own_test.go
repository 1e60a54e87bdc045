package store_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestOwnChangesAreInTheAudit has the retention hide documents: the audit gets one entry with
// them, in the same transaction. A request that does the same has its own entry alone.
func TestOwnChangesAreInTheAudit(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		ctx, days := a.Context(), 1.0
		must(a.T, a.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "acme", Name: "p", Config: knowledge.ProjectConfig{Retention: knowledge.RetentionConfig{
			Documents: []knowledge.RetentionRule{{Days: days, Action: knowledge.RetentionInactive}},
		}}}))
		var documents []string
		for _, name := range []string{"one", "two", "young"} {
			uploaded := time.Now()
			if name != "young" {
				uploaded = uploaded.Add(-48 * time.Hour)
				documents = append(documents, knowledge.DocumentID("acme", "p", name))
			}
			_, _, err := a.AddVersion(ctx, store.NewVersion{
				Workspace: "acme", Project: "p", DocumentID: knowledge.DocumentID("acme", "p", name), ExternalID: name, Name: name, RunID: name, Now: uploaded,
			})
			must(a.T, err)
		}
		page, err := a.RetainDocuments(ctx, store.RetentionScope{Workspace: "acme", Run: "r"}, store.RetentionPlace{}, 10)
		if err != nil || len(page.Hidden) != 2 {
			a.Fatalf("%d documents were hidden, %v", len(page.Hidden), err)
		}
		must(a.T, a.keeper.Keep(ctx))
		entries, err := a.AuditAfter(ctx, auditor("acme", "", knowledge.AuditRead), store.AuditQuery{Action: "retention-hide-documents"}, 0, 10)
		must(a.T, err)
		if len(entries) != 1 {
			a.Fatalf("%d entries", len(entries))
		}
		var details audit.Details
		must(a.T, json.Unmarshal(entries[0].Details, &details))
		slices.Sort(documents)
		slices.Sort(details.Objects)
		if e := entries[0]; e.Actor != "workflow:retention" || e.Outcome != audit.OutcomeOK || details.Run != "r" || !slices.Equal(details.Objects, documents) {
			a.Errorf("entry %+v with %+v, want the documents %v", e, details, documents)
		}
		if report, err := a.keeper.Verify(ctx, "acme", 0); err != nil || report.Broken != nil {
			a.Errorf("the chain: %+v, %v", report.Broken, err)
		}
		byRequest(a)
	})
}

// byRequest has the retention find nothing, and then a document in the context of a request.
func byRequest(a *audited) {
	_, _, err := a.AddVersion(a.Context(), store.NewVersion{
		Workspace: "acme", Project: "p", DocumentID: "d", ExternalID: "d", Name: "d", RunID: "d", Now: time.Now().Add(-48 * time.Hour),
	})
	must(a.T, err)
	ctx, _ := a.request("r1")
	if page, err := a.RetainDocuments(ctx, store.RetentionScope{Workspace: "acme"}, store.RetentionPlace{}, 10); err != nil || len(page.Hidden) != 1 {
		a.Fatalf("%d documents were hidden, %v", len(page.Hidden), err)
	}
	must(a.T, a.keeper.Keep(a.Context()))
	entries, err := a.AuditAfter(a.Context(), auditor("acme", "", knowledge.AuditRead), store.AuditQuery{Action: "retention-hide-documents"}, 0, 10)
	if err != nil || len(entries) != 1 {
		a.Errorf("%d entries after a request, %v", len(entries), err)
	}
}

// TestCheckpointsByWebhook signs the audit twice. A webhook that wants checkpoints is to be sent
// the newest one; one that wants documents is sent none.
func TestCheckpointsByWebhook(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		ctx := a.Context()
		must(a.T, a.CreateWorkspace(ctx, store.Workspace{ID: "other"}))
		hook := func(id string, kind knowledge.WebhookType) knowledge.Webhook {
			return knowledge.Webhook{ID: id, URL: "https://hooks", Types: []knowledge.WebhookType{kind}, Enabled: true}
		}
		for _, workspace := range []string{"acme", "other"} {
			must(a.T, a.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: workspace, Name: "p", Webhooks: []knowledge.Webhook{
				hook("wants-"+workspace, knowledge.WebhookCheckpoints), hook("others-"+workspace, knowledge.WebhookCreated),
			}}))
		}
		for _, id := range []string{"r1", "r2"} {
			must(a.T, a.recorder.Record(ctx, audit.Row{ID: id, Workspace: "acme", Entry: audit.Entry{At: time.Now(), Action: "get-chunk", Outcome: audit.OutcomeOK, Details: json.RawMessage("{}")}}))
			must(a.T, a.keeper.Keep(ctx))
			must(a.T, a.keeper.Checkpoint(ctx))
		}
		reads := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
		list, _, err := a.Deliveries(ctx, reads, store.DeliveryQuery{})
		must(a.T, err)
		statuses := map[int64]store.DeliveryStatus{}
		for _, d := range list {
			statuses[d.Number] = d.Status
			if d.Webhook != "wants-acme" || d.Checkpoint == nil || d.Checkpoint.Seq != d.Number || !d.Checkpoint.SignedBy(a.keeper.PublicKey()) {
				a.Errorf("delivery %+v with %+v", d, d.Checkpoint)
			}
		}
		if len(list) != 2 || statuses[1] != store.DeliveryCanceled || statuses[2] != store.DeliveryPending {
			a.Errorf("the deliveries are %v", statuses)
		}
	})
}

// TestTheEndOfAGrantIsInTheAudit ends a grant twice: the audit names it once, and not the one that
// lasts.
func TestTheEndOfAGrantIsInTheAudit(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		must(a.T, a.CreateProject(a.Context(), knowledge.Project{ID: "p", Workspace: "acme", Name: "p"}))
		for id, end := range map[string]time.Time{"ended": time.Now().Add(-time.Second), "lasts": time.Now().Add(time.Hour), "endless": {}} {
			_, err := a.AddGrant(a.Context(), auditor("acme", ""), knowledge.Grant{ID: id, Subject: "u:ann", Object: "t:plan", Effect: knowledge.GrantAllow, Permission: knowledge.GrantRead, ExpiresAt: end})
			must(a.T, err)
		}
		for range 2 {
			_, err := a.EndGrants(a.Context(), "acme", 10)
			must(a.T, err)
		}
		must(a.T, a.keeper.Keep(a.Context()))
		entries, err := a.AuditAfter(a.Context(), auditor("acme", "", knowledge.AuditRead), store.AuditQuery{Action: "end-grants"}, 0, 10)
		must(a.T, err)
		if len(entries) != 1 || entries[0].Actor != "workflow:grants" || string(entries[0].Details) != `{"objects":["ended"]}` {
			a.Errorf("the entries are %+v", entries)
		}
	})
}
