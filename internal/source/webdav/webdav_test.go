package webdav_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/webdav"
)

// place returns a fake of Nextcloud with the connector that follows it.
func place(mirror bool) sourcetest.Place {
	world := sourcetest.NewWorld("ann@example.org")
	fake := sourcetest.NewWebDAV(world)
	return sourcetest.Place{
		World: world, Handler: fake, Mirrors: mirror,
		Open: func(client *http.Client, cursor string) (source.Source, error) {
			return webdav.New(source.Follow{
				Options: source.Settings{URL: "http://cloud.test" + fake.Base, Username: fake.Username}, Credentials: fake.Password,
				Mirror: mirror, Cursor: cursor, PageSize: 3,
			}, client)
		},
		Key: func(id int) string { return fmt.Sprintf("id:%d", id) },
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	sourcetest.Follow(t, sourcetest.Scripts(), place)
}
