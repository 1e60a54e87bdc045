package notion_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/notion"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

func newWorld() *sourcetest.World {
	world := sourcetest.NewWorld("ann@example.org")
	world.Pages = true
	return world
}

// follow returns what opens a fake.
func follow() source.Follow {
	return source.Follow{Type: source.TypeNotion, Options: source.Settings{URL: "http://notion.test"}, Credentials: sourcetest.NotionToken}
}

// states are the states of the runs of a sync. A run that begins at another cursor than the
// one before follows a completed run.
type states struct {
	cursor       string
	now, earlier *sourcetest.State
}

// of returns the state of the run that begins at a cursor, and that of the completed run
// before it.
func (s *states) of(f *source.Follow) {
	if s.now == nil {
		s.now = &sourcetest.State{}
	}
	if f.Cursor != s.cursor {
		s.earlier, s.now, s.cursor = s.now, &sourcetest.State{}, f.Cursor
	}
	f.State = s.now
	if s.earlier != nil {
		f.Previous = s.earlier
	}
}

// firstText is the text of a page, or of a table.
var firstText = regexp.MustCompile(`<main>.*?<p>(text \d+)</p>`)

// bodyOf returns the text that a page, a table or a file has in the world.
func bodyOf(delivered string) string {
	if m := firstText.FindStringSubmatch(delivered); m != nil {
		return m[1]
	}
	return delivered
}

func TestFollow(t *testing.T) {
	t.Parallel()
	sourcetest.Follow(t, sourcetest.Scripts(), func(edits bool) sourcetest.Place {
		fake := sourcetest.NewNotion(newWorld())
		fake.Attached = func(id int) bool { return id%3 == 0 }
		fake.Tables = func(id int) bool { return id%4 == 1 }
		fake.Nested = func(id int) bool { return id%5 == 2 }
		fake.Misses = func(id int) bool { return (id*7+int(time.Now().Unix()/3600))%6 == 0 }
		fake.Lag, fake.Edits = 2*time.Minute, edits
		var runs states
		return sourcetest.Place{
			World: fake.World, Handler: fake, Body: bodyOf, Rest: 7 * time.Hour, Key: fake.Key,
			Open: func(client *http.Client, cursor string) (source.Source, error) {
				f := follow()
				f.Cursor, f.PageSize = cursor, 3
				runs.of(&f)
				return notion.New(f, client)
			},
		}
	})
}
