package git_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/git"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

const host = "http://git.test"

func TestFollow(t *testing.T) {
	t.Parallel()
	sourcetest.Follow(t, sourcetest.Scripts(), func(filters bool) sourcetest.Place {
		world := sourcetest.NewWorld("ann@example.org")
		fake := sourcetest.NewGit(world)
		fake.Filters = filters
		return sourcetest.Place{
			World: world, Handler: fake, Expire: fake.Expire,
			Open: func(client *http.Client, cursor string) (source.Source, error) {
				f := place(cursor)
				f.PageSize = 3
				return git.New(f, client)
			},
		}
	})
}

// place is the repository of a fake.
func place(cursor string) source.Follow {
	return source.Follow{
		Type: source.TypeGit, Options: source.Settings{URL: host, Username: "ann"}, Credentials: "token",
		Scope: source.Scope{Repository: strings.TrimPrefix(sourcetest.GitPath, "/")}, Cursor: cursor,
	}
}

// counted counts requests.
type counted struct {
	http.Handler
	requests int
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests++
	c.Handler.ServeHTTP(w, r)
}

// run lists what has changed since a cursor, and returns the objects by their names, the keys
// that are gone, and the last page.
func run(t *testing.T, h http.Handler, f source.Follow) (objects map[string]source.Object, gone []string, last source.Page) {
	t.Helper()
	s, err := git.New(f, sourcetest.Local(h))
	if err != nil {
		t.Fatal(err)
	}
	objects = map[string]source.Object{}
	for token := ""; ; token = last.Next {
		if last, err = s.List(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		for _, o := range last.Objects {
			objects[o.Name] = o
		}
		if gone = append(gone, last.Removed...); last.Next == "" {
			return objects, gone, last
		}
	}
}

// TestRenames moves files at random: the key of each stays as long as its content does.
func TestRenames(t *testing.T) {
	t.Parallel()
	for seed := range 100 {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		world := sourcetest.NewWorld("ann")
		fake := sourcetest.NewGit(world)
		folders, keys, cursor := []int{0}, map[string]string{}, ""
		var items []int
		for n := range 12 {
			if parent := folders[random.IntN(len(folders))]; n%3 == 0 {
				folders = append(folders, world.Create(parent, fmt.Sprintf("folder %d", n), true, ""))
			} else {
				items = append(items, world.Create(parent, fmt.Sprintf("%d.txt", n%5), false, fmt.Sprintf("text %d", n)))
			}
		}
		for step := range 8 {
			list, gone, last := run(t, fake, place(cursor))
			cursor = last.Cursor
			for name, o := range list {
				content := read(t, fake, o)
				if before, known := keys[content]; known && before != o.Key {
					t.Fatalf("script %d, step %d: %s has the key %q, and had %q", seed, step, name, o.Key, before)
				}
				keys[content] = o.Key
			}
			if len(gone) > 0 {
				t.Fatalf("script %d, step %d: %v are taken for gone", seed, step, gone)
			}
			for range 1 + random.IntN(3) {
				moved := items[random.IntN(len(items))]
				if random.IntN(4) == 0 {
					moved = folders[random.IntN(len(folders)-1)+1]
				}
				world.Move(moved, folders[random.IntN(len(folders))], fmt.Sprintf("%d.txt", random.IntN(5)))
			}
		}
	}
}

// read returns the content of an object.
func read(t *testing.T, h http.Handler, o source.Object) string {
	t.Helper()
	s, err := git.New(place(""), sourcetest.Local(h))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Open(t.Context(), o, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRepository follows a repository that git serves, with packs as git makes them.
func TestRepository(t *testing.T) {
	t.Parallel()
	r := sourcetest.NewRepository(t)
	served := &counted{Handler: r}
	for n := range 300 {
		r.Write(fmt.Sprintf("docs/part %d/note %d.md", n%7, n), fmt.Sprintf("The lamp %d is lit.\n", n)+strings.Repeat("It turns. ", n))
	}
	r.Write("readme.md", "The lighthouse.")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",module")
	r.Commit()
	r.Git("repack", "-adfq", "--depth=50", "--window=50") // files and trees as differences
	f := place("")
	f.Scope.Branch, f.Scope.Folder = "main", "docs"
	list, _, last := run(t, served, f)
	if len(list) != 300 || !last.Full {
		t.Fatalf("%d files are listed", len(list))
	}
	if got := read(t, served, list["part 3/note 52.md"]); !strings.HasPrefix(got, "The lamp 52 is lit.") || len(got) != 540 {
		t.Errorf("a file is %q", got)
	}

	served.requests, f.Cursor = 0, last.Cursor
	if list, gone, now := run(t, served, f); len(list)+len(gone) > 0 || now.Full || now.Cursor != f.Cursor || served.requests != 1 {
		t.Errorf("an unchanged branch has %v, %v, in %d requests", list, gone, served.requests)
	}

	r.Git("mv", "docs/part 1", "docs/one")
	r.Git("rm", "--quiet", "docs/part 2/note 2.md")
	r.Write("docs/part 3/note 3.md", "It is dark.")
	r.Write("docs/new.md", "A new lamp.")
	r.Commit()
	list, gone, last := run(t, served, f)
	if len(list) != 43+2 || list["one/note 1.md"].Key != "docs/part 1/note 1.md" || last.Full {
		t.Errorf("%d files have changed: %+v", len(list), list["one/note 1.md"])
	}
	if diff := cmp.Diff([]string{"docs/part 2/note 2.md"}, gone); diff != "" {
		t.Error(diff)
	}
	if got := read(t, served, list["part 3/note 3.md"]); got != "It is dark." {
		t.Errorf("a changed file is %q", got)
	}

	f.Cursor = last.Cursor
	r.Write("docs/new.md", "A newer lamp.")
	r.Rewrite()
	list, gone, last = run(t, served, f)
	if len(list) != 300 || len(gone) > 0 || !last.Full || list["one/note 1.md"].Key != "docs/part 1/note 1.md" {
		t.Errorf("after a forced push %d files are listed, %v are gone, %+v", len(list), gone, list["one/note 1.md"])
	}
}

// TestLargeFileStorage has a file that stands for one elsewhere.
func TestLargeFileStorage(t *testing.T) {
	t.Parallel()
	world := sourcetest.NewWorld("ann")
	fake := sourcetest.NewGit(world)
	world.Create(0, "film.mp4", false, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
	world.Create(0, "a.txt", false, "version")
	list, _, _ := run(t, fake, place(""))
	if len(list) != 2 || read(t, fake, list["a.txt"]) != "version" {
		t.Errorf("listed are %v", list)
	}
	s, err := git.New(place(""), sourcetest.Local(fake))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Open(t.Context(), list["film.mp4"], ""); !knowledge.IsCode(err, knowledge.CodeUnsupportedFormat) {
		t.Errorf("the error is %v", err)
	}
}
