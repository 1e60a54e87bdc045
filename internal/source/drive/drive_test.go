package drive_test

import (
	"crypto/rsa"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/drive"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

func TestFollow(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	sourcetest.Follow(t, sourcetest.Scripts(), func(mirror bool) sourcetest.Place {
		world := sourcetest.NewWorld("ann@example.org")
		fake := sourcetest.NewDrive(world, key)
		fake.Exports = func(int) bool { return false } // their names have another extension
		return sourcetest.Place{
			World: world, Handler: fake, Mirrors: mirror, Nested: true, Expire: fake.Expire, Slow: drive.Slow,
			Open: func(client *http.Client, cursor string) (source.Source, error) {
				return drive.New(source.Follow{
					Options: source.Settings{URL: "http://drive.test"}, Credentials: fake.Account(), Mirror: mirror, Cursor: cursor, PageSize: 3,
				}, client)
			},
			Key: func(id int) string { return fmt.Sprintf("id:item-%d", id) },
		}
	})
}

// TestCredentials has an account that Google knows, and one that it does not.
func TestCredentials(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann"), key)
	other := sourcetest.NewDrive(sourcetest.NewWorld("ann"), newKey(t))
	client := sourcetest.Local(fake)
	f := source.Follow{Options: source.Settings{URL: "http://drive.test"}, Credentials: fake.Account()}
	if err := drive.Try(t.Context(), f, client); err != nil {
		t.Errorf("its own account is refused: %v", err)
	}
	f.Credentials = other.Account()
	if err := drive.Try(t.Context(), f, client); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "domain-wide delegation") {
		t.Errorf("another account: %v", err)
	}
	f.Credentials = `{"type":"authorized_user"}`
	if err := drive.CheckConnection(f); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("a file of a user: %v", err)
	}
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := sourcetest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestSecretEnds has a key that expires, and one that does not.
func TestSecretEnds(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann"), newKey(t))
	f := source.Follow{Options: source.Settings{URL: "http://drive.test"}, Credentials: fake.Account()}
	for ends, want := range map[time.Time]time.Time{
		time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC):      time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC): {},
	} {
		fake.KeyEnds = ends
		if got, err := drive.SecretEnds(t.Context(), f, sourcetest.Local(fake)); err != nil || !got.Equal(want) {
			t.Errorf("it expires at %v, want %v; %v", got, want, err)
		}
	}
}
