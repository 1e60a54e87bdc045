package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Hostile are words that try to leave the place where a database expects a
// value. Fuzz tests begin with them.
var Hostile = []string{
	"", "'", "''", `"`, "`", `\`, `\'`, "' OR '1'='1", "x'); DROP TABLE documents; --", "?", "?0", "??", "$1", ":a", "@a",
	"%", "_", "*", "a\x00b", "\x00", "a\nb", "a;b", "\xff\xfe", "ä", "日本語", "\u202e", strings.Repeat("'", 1000), "NULL", "[]", "{}", "w:acme",
}

func testHostileInput(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"words_come_back_as_they_were_and_match_only_themselves": hostileWords,
		"users_are_told_apart_whatever_their_names":              hostileUsers,
		"ids_of_any_form_are_not_found":                          hostileIDs,
	})
}

func hostileWords(f *fixture) {
	for _, word := range Hostile {
		RoundTrip(f.TB, f.Store, word)
	}
	want := len(slices.DeleteFunc(slices.Clone(Hostile), func(word string) bool { return !storable(word) }))
	if n := len(f.names(manager("acme"), store.DocumentQuery{})); n != want {
		f.Errorf("%d documents of %d", n, want)
	}
}

// storable reports whether a store takes a text: PostgreSQL has none with a NUL and none
// that is not UTF-8.
func storable(word string) bool { return utf8.ValidString(word) && !strings.Contains(word, "\x00") }

// refused checks that a text that is not storable is stored nowhere.
func (f *fixture) refused(word string) {
	f.Helper()
	v := f.add(upload("refused " + knowledge.NewID()))
	_, _, err := f.AddVersion(f.ctx, upload("x", func(nv *store.NewVersion) { nv.SourceURL = word }))
	f.wantCode(err, knowledge.CodeInvalid)
	f.wantCode(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, word)), knowledge.CodeInvalid)
	f.wantCode(f.SaveMessages(f.ctx, "acme", store.Message{ID: word, ConversationID: word, Text: word}), knowledge.CodeNotFound)
	_, err = f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "c", Title: word})
	f.wantCode(err, knowledge.CodeInvalid)
	_, err = f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	r, err := f.Removal(f.ctx, manager("acme"), v.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
}

// RoundTrip stores a document of acme/handbook whose every text is word, and checks
// that it comes back unchanged and is found by this word alone. A word that is not
// storable must be refused.
func RoundTrip(t testing.TB, s Store, word string) {
	t.Helper()
	f := &fixture{t, s, t.Context()}
	if !storable(word) {
		f.refused(word)
		return
	}
	nv := upload(word, func(nv *store.NewVersion) {
		nv.Tags, nv.Classification, nv.MediaType, nv.SourceURL = []string{word}, &word, word, word
		nv.Metadata = map[string]any{"k": strings.ToValidUTF8(word, "")}
		nv.Tags[0] = strings.ToValidUTF8(word, "")
	})
	v, chunks := f.publish(nv, word)
	d := f.document(v.Document)
	want := []string{word, word, word, nv.Tags[0], nv.Tags[0]}
	if diff := cmp.Diff(want, []string{d.Name, d.ExternalID, d.Classification, d.Tags[0], d.Metadata["k"].(string)}); diff != "" {
		t.Errorf("%q: %s", word, diff)
	}
	read, err := f.Version(f.ctx, v.VersionRef)
	f.must(err)
	if read.Name != word || read.SourceURL != word || read.MediaType != word {
		t.Errorf("%q: version %+v", word, read)
	}
	if diff := cmp.Diff([]string{word}, f.sees(clearedForAll(word), chunks...)); diff != "" {
		t.Errorf("%q: %s", word, diff)
	}
	for _, query := range []store.DocumentQuery{{ExternalID: word}, {Tags: nv.Tags}} {
		list, _, err := f.Documents(f.ctx, manager("acme"), query)
		f.must(err)
		if query.ExternalID == "" && word == "" {
			continue // no condition at all
		}
		for _, other := range list {
			if other.ID != v.Document && strings.ToValidUTF8(other.Name, "") != nv.Tags[0] {
				t.Errorf("%q finds %q", word, other.Name)
			}
		}
		if len(list) == 0 {
			t.Errorf("%q is not found by %+v", word, query)
		}
	}
	_, _, err = f.Runs(f.ctx, reader(word), store.RunQuery{Kind: knowledge.RunKind(word), Status: knowledge.RunStatus(word)})
	f.must(err)
}

// clearedForAll reads as a user, in a group of the same name, documents of every classification.
func clearedForAll(word string) knowledge.Principal {
	return claims(func(c *knowledge.Claims) {
		c.User, c.Groups, c.Covered = word, []string{word}, []string{knowledge.EveryLevel}
	})
}

func hostileUsers(f *fixture) {
	names := slices.DeleteFunc(slices.Clone(Hostile), func(name string) bool {
		return !storable(name) // no principal has such a name: package access refuses it
	})
	chunks := map[string]knowledge.Chunk{}
	for _, name := range names {
		_, c := f.publish(upload("of "+name, func(nv *store.NewVersion) {
			nv.Access, nv.ExternalUserID = &knowledge.Access{}, new("user "+name)
		}), name)
		chunks[name] = c[0]
	}
	all := make([]knowledge.Chunk, 0, len(chunks))
	for _, c := range chunks {
		all = append(all, c)
	}
	for _, name := range names {
		p := claims(func(c *knowledge.Claims) { c.ExternalUser = "user " + name })
		if diff := cmp.Diff([]string{name}, f.sees(p, all...)); diff != "" {
			f.Errorf("user %q sees: %s", name, diff)
		}
		_, err := f.EnsureConversation(f.ctx, p, store.Conversation{ID: "talk " + name, Title: name})
		f.must(err)
		list, _, err := f.Conversations(f.ctx, p, store.Page{})
		if err != nil || len(list) != 1 || list[0].Title != name {
			f.Errorf("user %q has the conversations %+v, %v", name, list, err)
		}
	}
}

func hostileIDs(f *fixture) {
	f.publish(upload("a.txt"), "one")
	for _, id := range Hostile {
		v := store.Version{VersionRef: knowledge.VersionRef{Document: id}, RunID: id}
		for name, err := range f.everyRead(manager("acme"), v, id, id) {
			if name != "Project" && !knowledge.IsCode(err, knowledge.CodeNotFound) {
				f.Errorf("%s of %q: %v, want code not_found", name, id, err)
			}
		}
		_, err := f.Project(f.ctx, manager("acme"), id)
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.KeyByHash(f.ctx, id)
		f.wantCode(err, knowledge.CodeNotFound)
		views, err := f.VisibleChunks(f.ctx, manager("acme"), []string{id}, []knowledge.Hit{{ChunkID: id}})
		if err != nil || len(views) != 0 {
			f.Errorf("%q: %+v, %v", id, views, err)
		}
	}
}
