package retrievetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// document is what readers should see of a document, and what the index does
// not know yet.
type document struct {
	of                     *world // whose grants it is under
	workspace, project, id string
	rights                 rights
	former                 rights // before the last change
	inactive, removed      bool
	published              version
	pending                version  // in the index, not published; number 0 = none
	lag                    []func() // writes that the index lacks
}

type version struct {
	store.Version
	rights rights
	chunks []passage
}

type passage struct {
	knowledge.Chunk
	vector []float32
}

// rights are who may see a document. A document of an external user or of a
// conversation is theirs alone.
type rights struct {
	access                 knowledge.Access
	external, conversation string
	level                  string // its classification
	tag                    string // "" = none
}

func (w *world) randomRights() rights {
	var r rights
	switch w.IntN(5) {
	case 0:
		r.external = pick(w, names)
	case 1:
		r.conversation = pick(w, names)
	case 2:
		r.access.Workspace = true
	}
	r.access.Users, r.access.Groups = some(w, names), some(w, names)
	if w.one(2) {
		r.level = pick(w, levels)
	}
	if w.one(2) {
		r.tag = pick(w, names)
	}
	return r
}

// change changes one document, adds one or removes one, and returns it.
func (w *world) change() *document {
	if len(w.documents) < 5 || w.one(4) {
		d := &document{of: w, workspace: pick(w, workspaces), project: pick(w, projects)}
		d.id = knowledge.DocumentID(d.workspace, d.project, strconv.Itoa(len(w.documents)))
		w.documents = append(w.documents, d)
		w.add(d)
		return d
	}
	d := pick(w, w.documents)
	d.former = d.rights
	if w.one(4) {
		w.changeGrants(d)
		return d
	}
	switch {
	case d.removed:
	case w.one(8):
		w.remove(d)
	case w.one(3) && d.pending.Version.Version > 0:
		w.publish(d)
	case w.one(3) && d.pending.Version.Version == 0:
		w.add(d)
	case w.one(4) && d.published.Version.Version > 0:
		d.inactive = !d.inactive
		status := knowledge.StatusPublished
		if d.inactive {
			status = knowledge.StatusInactive
		}
		w.patch(d, store.DocumentPatch{Status: &status})
	default:
		w.changeAccess(d)
	}
	return d
}

// changeGrants adds a grant that concerns a document, or removes one.
func (w *world) changeGrants(d *document) {
	if len(w.grants) > 6 || len(w.grants) > 0 && w.one(3) {
		i := w.IntN(len(w.grants))
		w.must(w.store.RemoveGrant(w.Context(), manager(w.grants[i].Workspace), w.grants[i].ID))
		w.grants = slices.Delete(w.grants, i, i+1)
		return
	}
	if d.removed {
		return
	}
	g := knowledge.Grant{
		ID: knowledge.NewID(), Subject: pick(w, []string{"u:", "g:"}) + pick(w, names), Object: pick(w, []string{"d:" + d.id, "t:" + pick(w, names), "p:" + d.project}),
		Effect: pick(w, []knowledge.GrantEffect{knowledge.GrantAllow, knowledge.GrantDeny, knowledge.GrantDeny}), Permission: pick(w, []knowledge.GrantPermission{knowledge.GrantRead, knowledge.GrantRead, knowledge.GrantWrite}),
	}
	if users := d.rights.access.Users; len(users) > 0 && w.one(2) {
		g.Subject = "u:" + pick(w, users) // who sees it now
	}
	if w.one(4) && !strings.HasPrefix(g.Object, "t:") {
		g.Subject = "p:" + d.project
	}
	added, err := w.store.AddGrant(w.Context(), manager(d.workspace), g)
	w.must(err)
	w.grants = append(w.grants, added)
}

// attributes are the attributes of the index's entries, as ingestion writes them.
func (r rights) attributes(workspace string) index.Attributes {
	return index.Attributes{ACL: r.tokens(workspace), Classification: r.level, Tags: r.tags()}
}

func (r rights) tags() []string {
	if r.tag == "" {
		return nil
	}
	return []string{r.tag}
}

// changeAccess changes who may see a document, and with it the pending version.
func (w *world) changeAccess(d *document) {
	changed := w.randomRights()
	d.rights.access, d.rights.level, d.rights.tag = changed.access, changed.level, changed.tag
	tags := append([]string{}, d.rights.tags()...)
	w.patch(d, store.DocumentPatch{Access: &d.rights.access, Classification: &d.rights.level, Tags: &tags})
	for _, v := range []*version{&d.published, &d.pending} {
		number := v.Version.Version
		if number == 0 {
			continue
		}
		v.rights = d.rights
		attributes := d.rights.attributes(d.workspace)
		w.write(d, func() error { return w.index.SetAttributes(w.Context(), d.workspace, d.id, number, attributes) })
	}
}

// add ingests a version of a document up to its publication, and publishes most.
func (w *world) add(d *document) {
	v := version{rights: w.randomRights()}
	run, ctx := knowledge.NewID(), w.Context()
	var err error
	_, v.Version, err = w.store.AddVersion(ctx, store.NewVersion{
		Workspace: d.workspace, Project: d.project, DocumentID: d.id, ExternalID: d.id, Name: d.id, MediaType: "text/plain", Bytes: 1,
		SourceKey: d.id + run, Access: &v.rights.access, ExternalUserID: &v.rights.external, ConversationID: &v.rights.conversation,
		Classification: &v.rights.level, Tags: v.rights.tags(), ReplaceTags: true, RunID: run, Now: time.Now(),
	})
	w.must(err)
	_, err = w.store.BeginVersion(ctx, v.VersionRef, run, 0)
	w.must(err)
	var entries []index.Entry
	for i := range 1 + w.IntN(4) {
		w.words++
		// The figure keeps the texts from being duplicates of each other.
		text := fmt.Sprintf("common passage number %d", w.words)
		p := passage{knowledge.Chunk{ID: knowledge.ChunkID(d.id, v.Version.Version, i), DocumentID: d.id, Version: v.Version.Version, Ordinal: i, Text: text}, hashOf(text)}
		v.chunks = append(v.chunks, p)
		entries = append(entries, index.Entry{ChunkID: p.ID, Workspace: d.workspace, Project: d.project, DocumentID: d.id, Version: p.Version,
			Ordinal: i, Text: text, Vector: p.vector, ACL: v.rights.tokens(d.workspace), Classification: v.rights.level, Tags: v.rights.tags(), Name: d.id})
	}
	w.must(w.index.Upsert(ctx, entries))
	if d.pending = v; d.published.Version.Version == 0 {
		d.rights = v.rights
	}
	if !w.one(5) {
		w.publish(d)
	}
}

// publish switches readers to the pending version. The index keeps the former
// one for a while.
func (w *world) publish(d *document) {
	v := d.pending
	w.must(w.store.SetStage(w.Context(), v.VersionRef, knowledge.StageChunk, .5, store.Facts{ChunkCount: len(v.chunks)}))
	chunks := make([]knowledge.Chunk, len(v.chunks))
	for i, p := range v.chunks {
		chunks[i] = p.Chunk
	}
	end := store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}
	done, err := w.store.PublishVersion(w.Context(), store.Publication{Ref: v.VersionRef, RunID: v.RunID, Chunks: chunks, End: &end})
	w.must(err)
	if !done.Done {
		w.Fatalf("version %d of document %s was not published", v.Version.Version, d.id)
	}
	d.published, d.pending, d.rights = v, version{}, v.rights
	w.write(d, func() error { return w.index.RemoveVersions(w.Context(), d.workspace, d.id, v.Version.Version) })
}

func (w *world) remove(d *document) {
	removal, err := w.store.MarkRemoving(w.Context(), manager(d.workspace), d.id, knowledge.NewID(), time.Now())
	w.must(err)
	d.removed = true
	w.write(d, func() error { return w.index.RemoveDocument(w.Context(), d.workspace, d.id, removal.Upto) })
}

func (w *world) patch(d *document, patch store.DocumentPatch) {
	_, err := w.store.UpdateDocument(w.Context(), manager(d.workspace), d.id, patch)
	w.must(err)
}

// write writes to the index now or, at random, later. Writes of one document
// stay in order.
func (w *world) write(d *document, do func() error) {
	d.lag = append(d.lag, func() { w.must(do()) })
	if w.one(2) {
		d.catchUp()
	}
}

func (d *document) catchUp() {
	for _, do := range d.lag {
		do()
	}
	d.lag = nil
}

func (w *world) catchUp() {
	for _, d := range w.documents {
		d.catchUp()
	}
}
