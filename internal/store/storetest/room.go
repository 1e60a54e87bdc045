package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRoom(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_project_without_limits_has_room":                roomWithoutLimits,
		"a_limit_counts_the_other_documents":               roomWithLimits,
		"a_document_that_is_being_removed_frees_room":      roomOfRemoved,
		"uploads_at_once_get_only_the_room_that_there_is":  roomForUploads,
		"versions_at_once_get_only_the_room_that_there_is": roomForVersions,
		"a_larger_new_version_takes_room_while_it_is_made": roomForGrowth,
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

// roomForUploads adds six documents at once to a project that has room for three.
func roomForUploads(f *fixture) {
	for name, limits := range map[string]knowledge.LimitsConfig{"documents": {Documents: 4}, "bytes": {Bytes: 450}} {
		f.must(f.CreateProject(f.ctx, knowledge.Project{ID: name, Workspace: "acme", Name: name}))
		add := func(file string) error {
			_, _, err := f.AddVersion(f.ctx, upload(file, func(nv *store.NewVersion) { // of 100 bytes
				nv.Project, nv.DocumentID, nv.Limits = name, knowledge.DocumentID(nv.Workspace, name, file), limits
			}))
			return err
		}
		f.must(add("first.txt"))
		errs := make(chan error, 6)
		var wg sync.WaitGroup
		for i := range cap(errs) {
			wg.Go(func() { errs <- add(numbered("file", i)) })
		}
		wg.Wait()
		for range 3 {
			f.must(add("first.txt")) // the next version takes no more room
		}
		f.gotRoom(name, errs, 3)
	}
}

// roomForVersions sets the pages of six versions at once in a project that has room for
// the pages of three.
func roomForVersions(f *fixture) {
	f.limit(knowledge.LimitsConfig{Pages: 35, Bytes: 1000})
	errs := make(chan error, 6)
	var wg sync.WaitGroup
	for i := range cap(errs) {
		v := f.add(upload(numbered("file", i), inSmall))
		wg.Go(func() { errs <- f.TakeRoom(f.ctx, v.VersionRef, 10, 0) })
	}
	wg.Wait()
	f.gotRoom("pages", errs, 3)
	one := f.add(upload("one.txt", inSmall))
	f.must(f.TakeRoom(f.ctx, one.VersionRef, 5, 400))
	f.must(f.TakeRoom(f.ctx, one.VersionRef, 5, 400)) // again
	f.wantCode(f.TakeRoom(f.ctx, one.VersionRef, 0, 401), knowledge.CodeLimitReached)
	if v, err := f.Version(f.ctx, one.VersionRef); err != nil || v.PageCount != 5 || v.Bytes != 400 {
		f.Errorf("%+v, %v", v, err)
	}
}

func roomForGrowth(f *fixture) {
	f.limit(knowledge.LimitsConfig{Bytes: 250})
	f.publish(upload("a.txt", inSmall), "one")
	f.add(upload("a.txt", inSmall, func(nv *store.NewVersion) { nv.Bytes = 160 }))
	_, _, err := f.AddVersion(f.ctx, upload("b.txt", inSmall, func(nv *store.NewVersion) { nv.Limits.Bytes = 250 }))
	f.wantCode(err, knowledge.CodeLimitReached)
}

// gotRoom fails the test unless so many of the errors are nil and the others refusals.
func (f *fixture) gotRoom(what string, errs chan error, want int) {
	f.Helper()
	close(errs)
	got := 0
	for err := range errs {
		if err == nil {
			got++
			continue
		}
		f.wantCode(err, knowledge.CodeLimitReached)
	}
	if got != want {
		f.Errorf("%s: %d of them got room, want %d", what, got, want)
	}
}
