package storetest

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRoom(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_project_without_limits_has_room":           roomWithoutLimits,
		"a_limit_counts_the_other_documents":          roomWithLimits,
		"a_document_that_is_being_removed_frees_room": roomOfRemoved,
	})
}

// limit creates a project with limits.
func (f *fixture) limit(limits knowledge.LimitsConfig) {
	f.Helper()
	now := time.Now()
	f.must(f.CreateProject(f.ctx, knowledge.Project{
		ID: "small", Workspace: "acme", Name: "small", Config: knowledge.ProjectConfig{Limits: limits}, CreatedAt: now, UpdatedAt: now,
	}))
}

func inSmall(nv *store.NewVersion) {
	nv.Project, nv.DocumentID = "small", knowledge.DocumentID(nv.Workspace, "small", nv.ExternalID)
}

func roomWithoutLimits(f *fixture) {
	f.add(upload("a.txt"))
	room, err := f.RoomForSystem(f.ctx, "acme", "handbook", "")
	f.must(err)
	_, err = f.Room(f.ctx, reader("ann"), "handbook", "")
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.Room(f.ctx, manager("other"), "elsewhere", "")
	f.wantCode(err, knowledge.CodeNotFound)
	if room.CheckBytes(1<<40) != nil || room.CheckPages(1<<30) != nil {
		f.Errorf("%+v", room)
	}
}

func roomWithLimits(f *fixture) {
	f.limit(knowledge.LimitsConfig{Bytes: 250, Pages: 10})
	a := f.add(upload("a.txt", inSmall)) // of 100 bytes
	b := f.add(upload("b.txt", inSmall))
	f.must(f.SetStage(f.ctx, a.VersionRef, knowledge.StageEnrich, 0, store.Facts{PageCount: 8}))
	room, err := f.RoomForSystem(f.ctx, "acme", "small", "")
	f.must(err)
	f.must(room.CheckBytes(50))
	f.must(room.CheckPages(2))
	f.wantCode(room.CheckBytes(51), knowledge.CodeLimitReached)
	f.wantCode(room.CheckPages(3), knowledge.CodeLimitReached)
	room, err = f.RoomForSystem(f.ctx, "acme", "small", b.Document)
	f.must(err)
	f.must(room.CheckBytes(150))
}

func roomOfRemoved(f *fixture) {
	f.limit(knowledge.LimitsConfig{Bytes: 150})
	a := f.add(upload("a.txt", inSmall))
	f.mark(a.Document)
	room, err := f.RoomForSystem(f.ctx, "acme", "small", "")
	f.must(err)
	f.must(room.CheckBytes(150))
}
