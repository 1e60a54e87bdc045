package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestCheckDrive has a service account that may not read who is in groups: a check tells it for
// a sync that mirrors rights, and for no other.
func TestCheckDrive(t *testing.T) {
	t.Parallel()
	e := open(t)
	key, err := sourcetest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), key)
	fake.Exports = func(int) bool { return false }
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	fake.World.Create(0, "a.txt", false, "text")
	body, err := json.Marshal(map[string]any{
		"type": "drive", "options": map[string]string{"url": server.URL, "subject": "ann@example.org"}, "secret": fake.Account(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID string }
	e.decoded(e.do("POST", own+"/connections", e.admin, string(body)), 201, &made)
	check := func(body any) (got shownCheck) {
		t.Helper()
		e.decoded(e.do("POST", own+"/connections/"+made.ID+"/check", e.admin, body), 200, &got)
		return got
	}
	mirror := `{"permissions":"mirror"}`
	if got := check(mirror); !got.OK || got.Preview == nil || got.Preview.Files != 1 {
		t.Errorf("with the scope it is %+v", got)
	}
	fake.Undelegated = true
	if got := check(mirror); got.OK || got.Error == nil || got.Error.Code != "forbidden" || !strings.Contains(got.Error.Message, "admin.directory.group.member.readonly to its client id") {
		t.Errorf("without the scope it is %+v", got.Error)
	}
	for _, body := range []any{nil, `{}`} {
		if got := check(body); !got.OK {
			t.Errorf("without mirror, %v: %+v", body, got.Error)
		}
	}
}
