package sourcetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/throttle"
)

// Place is a fake service with the connector that follows it.
type Place struct {
	World   *World
	Handler http.Handler
	// Open returns the source that follows the whole world.
	Open func(client *http.Client, cursor string) (source.Source, error)
	// Connect is Open for a service that does not speak HTTP. fault returns what happens to a
	// request: FaultBusy and so on, or another number for nothing.
	Connect func(fault func() int, cursor string) (source.Source, error)
	// Key returns the key of the object of a file. nil = the service has no ids, so files are
	// compared by their paths.
	Key func(id int) string
	// Slow tells answers that ask for fewer requests. Defaults to throttle.Standard.
	Slow throttle.Slow
	// Mirrors reports that objects have their access, and Labels that they have labels.
	Mirrors, Labels bool
	// Nested reports that the source is a source.Directory, of the groups of the world.
	Nested bool
	// Flat reports that the service has no folders that a script could make.
	Flat bool
	// Body returns the content of what was delivered. Defaults to all of it.
	Body func(delivered string) string
	// Rest is the time between two runs of a world at rest.
	Rest time.Duration
	// Expire makes the service forget what changed before now; nil = it remembers nothing
	// that could expire.
	Expire func()
}

// shards divide the scripts, so that they run side by side.
const shards = 4

// Scripts returns how many random scripts a connector is tested by.
func Scripts() int {
	if testing.Short() {
		return 400
	}
	return 10_000
}

// Follow runs random scripts against a connector: each changes a world step by step, and
// lets a follower run in between, while requests fail, are throttled or are cut off, the
// process is killed, and the world changes during the run. After each run it compares what
// was delivered with the world.
func Follow(t *testing.T, scripts int, newPlace func(mirror bool) Place) {
	t.Helper()
	for shard := range shards {
		t.Run(fmt.Sprintf("random scripts, part %d", shard), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for seed := shard; seed < scripts && !t.Failed(); seed += shards {
					random := rand.New(rand.NewPCG(uint64(seed), 1))
					s := &script{t: t, seed: seed, random: random, Place: newPlace(seed%2 == 0)}
					s.follower = &follower{script: s, known: map[string]held{}, members: map[string][]string{}, failed: map[string]source.Object{}}
					s.run()
				}
				time.Sleep(time.Hour) // of the bubble: connections that are kept end
			})
		})
	}
}

// script is one random script.
type script struct {
	Place
	t        *testing.T
	seed     int
	random   *rand.Rand
	follower *follower
	faults   *unreliable
}

// The bounds of a script.
const (
	stepsOfScript = 12
	settlingRuns  = 6 // that a world at rest may take until everything is delivered
)

func (s *script) run() {
	for range 3 {
		s.create()
	}
	for range stepsOfScript {
		if s.random.IntN(4) > 0 {
			s.change()
			continue
		}
		s.faults = &unreliable{handler: s.Handler, random: s.random, rate: s.random.IntN(3)}
		s.follower.run(s.random.IntN(3) == 0)
	}
	s.faults = &unreliable{handler: s.Handler}
	for n := 0; ; n++ {
		s.follower.run(false)
		diff := s.follower.compare()
		if diff == "" {
			return
		}
		time.Sleep(s.Rest)
		if n == settlingRuns || s.t.Failed() {
			s.t.Errorf("script %d: after %d runs of a world at rest:\n%s\nthe world is\n%s", s.seed, n, diff, s.World)
			return
		}
	}
}

// name returns one of a few names, so that names meet again.
func (s *script) name() string {
	return []string{"a.txt", "b.txt", "c & d.txt", "ümlaut #1.txt", "100%.txt"}[s.random.IntN(5)]
}

func (s *script) text() string { return fmt.Sprintf("text %d", s.random.IntN(1000)) }

// pick returns one of the items that a condition leaves, 0 if it leaves none.
func (s *script) pick(trashed bool, keep func(Item) bool) int {
	list := s.World.ids(trashed)
	list = slices.DeleteFunc(list, func(id int) bool {
		i, _ := s.World.Item(id)
		return !trashed && !keep(i)
	})
	if len(list) == 0 {
		return 0
	}
	return list[s.random.IntN(len(list))]
}

func anything(Item) bool { return true }

// folder returns a folder, which may be the root.
func (s *script) folder() int {
	if s.random.IntN(2) == 0 {
		return 0
	}
	return s.pick(false, func(i Item) bool { return i.Folder })
}

func (s *script) create() {
	folder := !s.Flat && s.random.IntN(3) == 0
	s.World.Create(s.folder(), s.name(), folder, s.text())
}

// change makes one random change of the world.
func (s *script) change() {
	one := s.pick(false, anything)
	if s.Nested && s.random.IntN(4) == 0 {
		s.join()
	}
	switch n := s.random.IntN(12); {
	case n < 3 || one == 0:
		s.create()
	case n < 5:
		if file := s.pick(false, func(i Item) bool { return !i.Folder || s.World.Pages }); file != 0 {
			s.World.Edit(file, s.text())
		}
	case n < 7:
		s.World.Move(one, s.folder(), s.name())
	case n == 7:
		i, _ := s.World.Item(one)
		s.World.Move(one, i.Parent, s.name())
	case n == 8:
		s.World.Delete(one)
	case n == 9:
		s.World.Trash(one, true)
	case n == 10:
		if id := s.pick(true, anything); id != 0 {
			s.World.Trash(id, false)
		}
	case s.Labels && s.random.IntN(2) == 0:
		s.World.Label(one, []string{"rule", "draft", "final"}[:s.random.IntN(4)]...)
	default:
		s.share(one)
	}
	if s.Expire != nil && s.random.IntN(15) == 0 {
		s.Expire()
	}
	time.Sleep(time.Minute) // of the bubble: services have clocks
}

func (s *script) share(id int) {
	var users, groups []string
	for _, name := range []string{"bob@example.org", "eve@example.org"} {
		if s.random.IntN(2) == 0 {
			users = append(users, name)
		}
	}
	for _, name := range s.groups() {
		if s.random.IntN(2) == 0 {
			groups = append(groups, name)
		}
	}
	s.World.Share(id, users, groups)
}

// groups are the groups of the world that files are shared with.
func (s *script) groups() []string {
	if s.Nested {
		return []string{"staff", "crew", "board"}
	}
	return []string{"staff"}
}

// join changes who is in a group: people, and other groups or the group itself. The groups are
// in a circle sometimes.
func (s *script) join() {
	var members []string
	for _, name := range append(s.groups(), "bob@example.org", "eve@example.org", "zoe@example.org") {
		if s.random.IntN(3) == 0 {
			members = append(members, name)
		}
	}
	s.World.Join(s.groups()[s.random.IntN(3)], members...)
}

// open returns the source as a new process opens it.
func (s *script) open(cursor string) source.Source {
	slow := s.Slow
	if slow == nil {
		slow = throttle.Standard
	}
	var src source.Source
	var err error
	if s.Connect != nil {
		src, err = s.Connect(s.faults.fault, cursor)
	} else {
		src, err = s.Open(throttle.Client(&http.Client{Transport: s.faults}, throttle.NewGate(time.Time{}, nil), slow), cursor)
	}
	if err != nil {
		s.t.Fatalf("script %d: open: %v", s.seed, err)
	}
	return src
}

func (s *script) context() context.Context { return s.t.Context() }
