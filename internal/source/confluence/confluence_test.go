package confluence_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// newWorld returns a world of pages that ann, bob and the members of a group see.
func newWorld() *sourcetest.World {
	world := sourcetest.NewWorld("ann@example.org")
	world.Pages, world.Members = true, map[string][]string{"staff": {"eve@example.org", "zoe@example.org"}}
	world.Share(0, []string{"bob@example.org"}, []string{"staff"})
	return world
}

// follow returns what opens a fake.
func follow(fake *sourcetest.Confluence) source.Follow {
	f := source.Follow{Type: source.TypeConfluence, Connection: "c1", Options: source.Settings{URL: "http://wiki.test" + fake.Base}, Credentials: sourcetest.ConfluenceSecret, Scope: source.Scope{Space: fake.Space}}
	if fake.Cloud {
		f.Options.Username = sourcetest.ConfluenceUser
	}
	return f
}

// bodyOf returns what stands in the page that was delivered, or an attachment as it is.
func bodyOf(delivered string) string {
	if _, after, page := strings.Cut(delivered, "<main>"); page {
		body, _, _ := strings.Cut(after, "</main>")
		return body
	}
	return delivered
}

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, product := range []struct {
		name  string
		cloud bool
	}{{"cloud", true}, {"data center", false}} {
		t.Run(product.name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Follow(t, sourcetest.Scripts()/2, func(mirror bool) sourcetest.Place {
				fake := sourcetest.NewConfluence(newWorld(), product.cloud)
				fake.Attached, fake.Lag = func(id int) bool { return id%3 == 0 }, 2*time.Minute
				fake.Posts = func(id int) bool { return id%4 == 1 }
				return sourcetest.Place{
					World: fake.World, Handler: fake, Mirrors: mirror, Nested: true, Labels: true, Slow: confluence.Slow, Body: bodyOf, Rest: 7 * time.Hour,
					Open: func(client *http.Client, cursor string) (source.Source, error) {
						f := follow(fake)
						f.Mirror, f.Cursor, f.PageSize = mirror, cursor, 3
						return confluence.New(f, client)
					},
					Key: func(id int) string {
						if i, _ := fake.World.Item(id); fake.Attached(id) && !i.Folder && i.Parent != 0 {
							return "id:att" + strconv.Itoa(id)
						}
						return "id:" + strconv.Itoa(id)
					},
				}
			})
		})
	}
}
