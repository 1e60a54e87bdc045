package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testShares(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"one_is_withdrawn_alone":           shareWithdrawn,
		"they_end_with_their_time":         sharesEnd,
		"they_are_the_owners":              sharesApart,
		"they_go_with_their_conversation":  sharesOfConversation,
		"they_go_with_the_publication":     sharesOfPublication,
		"a_conversation_has_so_many_links": sharesBounded,
	})
}

// share adds a link to a conversation of ann's in the project handbook, for an hour.
func (f *fixture) share(conversation, id string) {
	f.Helper()
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: conversation, Project: "handbook"})
	f.must(err)
	f.must(f.AddShare(f.ctx, reader("ann"), knowledge.Share{ID: id, Conversation: conversation, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}))
}

// wantShares checks which links a conversation of ann's has.
func (f *fixture) wantShares(conversation string, want ...string) {
	f.Helper()
	list, err := f.Shares(f.ctx, reader("ann"), conversation)
	if err != nil || len(list) != len(want) {
		f.Fatalf("conversation %s has the links %+v, %v; want %q", conversation, list, err, want)
	}
	for i, one := range list {
		if one.ID != want[i] || one.Conversation != conversation || one.CreatedAt.IsZero() || one.ExpiresAt.IsZero() {
			f.Errorf("link %d is %+v, want %s", i, one, want[i])
		}
		if found, err := f.Share(f.ctx, reader("ann"), conversation, one.ID); err != nil || !found.ExpiresAt.Equal(one.ExpiresAt) {
			f.Errorf("link %s is %+v, %v", one.ID, found, err)
		}
	}
}

func shareWithdrawn(f *fixture) {
	f.share("talk", "first")
	f.share("talk", "second")
	f.share("other", "third")
	f.wantShares("talk", "second", "first")
	f.must(f.WithdrawShare(f.ctx, reader("ann"), "talk", "first"))
	f.wantShares("talk", "second")
	_, err := f.Share(f.ctx, reader("ann"), "talk", "first")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.WithdrawShare(f.ctx, reader("ann"), "talk", "first"), knowledge.CodeNotFound)
	f.wantCode(f.WithdrawShare(f.ctx, reader("ann"), "talk", "third"), knowledge.CodeNotFound)
	f.wantShares("other", "third")
}

func sharesEnd(f *fixture) {
	f.share("talk", "lasting")
	ended := knowledge.Share{ID: "ended", Conversation: "talk", CreatedAt: time.Now().Add(-time.Hour), ExpiresAt: time.Now().Add(-time.Minute)}
	f.must(f.AddShare(f.ctx, reader("ann"), ended))
	f.wantShares("talk", "lasting")
	_, err := f.Share(f.ctx, reader("ann"), "talk", "ended")
	f.wantCode(err, knowledge.CodeNotFound)
	f.share("talk", "next") // deletes the one that has ended
	f.wantCode(f.WithdrawShare(f.ctx, reader("ann"), "talk", "ended"), knowledge.CodeNotFound)
}

func sharesApart(f *fixture) {
	f.share("talk", "link")
	inPress := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: "press", User: "ann", KeyID: "reader", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
	for name, p := range map[string]knowledge.Principal{"another person": reader("bob"), "another project": inPress, "another workspace": manager("other")} {
		_, listed := f.Shares(f.ctx, p, "talk")
		_, read := f.Share(f.ctx, p, "talk", "link")
		added := f.AddShare(f.ctx, p, knowledge.Share{ID: "mine", Conversation: "talk", ExpiresAt: time.Now().Add(time.Hour)})
		for _, err := range []error{listed, read, added, f.WithdrawShare(f.ctx, p, "talk", "link")} {
			if !knowledge.IsCode(err, knowledge.CodeNotFound) {
				f.Errorf("%s: %v", name, err)
			}
		}
	}
	f.wantShares("talk", "link")
}

func sharesOfConversation(f *fixture) {
	f.share("talk", "link")
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk", Project: "handbook"})
	f.must(err)
	f.wantShares("talk")
}

func sharesOfPublication(f *fixture) {
	for _, project := range []string{"handbook", "press"} {
		_, _, err := f.publishAs(project, project)
		f.must(err)
	}
	f.share("talk", "link")
	f.must(f.RemovePublication(f.ctx, manager("acme"), "press"))
	f.wantShares("talk", "link")
	f.must(f.RemovePublication(f.ctx, manager("acme"), "handbook"))
	f.wantShares("talk")
}

func sharesBounded(f *fixture) {
	for i := range 100 {
		f.share("talk", strconv.Itoa(i))
	}
	one := knowledge.Share{ID: "more", Conversation: "talk", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	f.wantCode(f.AddShare(f.ctx, reader("ann"), one), knowledge.CodeLimitReached)
	f.must(f.WithdrawShare(f.ctx, reader("ann"), "talk", "0"))
	f.must(f.AddShare(f.ctx, reader("ann"), one))
}
