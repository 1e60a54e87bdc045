package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestSharePointRequests has connections and scopes that no sync of SharePoint could have.
func TestSharePointRequests(t *testing.T) {
	t.Parallel()
	e := open(t)
	const options = `"options":{"tenant":"contoso.com","client_id":"app"}`
	for location, body := range map[string]string{
		"body.options.tenant":    `{"type":"sharepoint","options":{"client_id":"app"},"secret":"x"}`,
		"body.options.client_id": `{"type":"sharepoint","options":{"tenant":"contoso.com","client_id":"a/b"},"secret":"x"}`,
		"body.options.url":       `{"type":"sharepoint","options":{"tenant":"contoso.com","client_id":"app","url":"graph.microsoft.us"},"secret":"x"}`,
		"body.options.username":  `{"type":"sharepoint","options":{"tenant":"contoso.com","client_id":"app","username":"ann"},"secret":"x"}`,
		"body.secret":            `{"type":"sharepoint",` + options + `,"secret":"-----BEGIN CERTIFICATE-----"}`,
	} {
		if got := e.do("POST", own+"/connections", e.admin, body).refused(422, knowledge.CodeInvalid); got[0] != location {
			t.Errorf("%s: the error names %v", location, got)
		}
	}
	var made struct {
		ID      string
		Options map[string]string
	}
	e.decoded(e.do("POST", own+"/connections", e.admin, `{"type":"sharepoint",`+options+`,"secret":"x"}`), 201, &made)
	if made.Options["tenant"] != "contoso.com" || made.Options["client_id"] != "app" {
		t.Errorf("the connection is shown with %v", made.Options)
	}
	for location, scope := range map[string]string{
		"body.scope":        `{}`,
		"body.scope.site":   `{"site":"sites/legal"}`,
		"body.scope.drive":  `{"site":"https://contoso.sharepoint.com/sites/legal","drive":"a/b"}`,
		"body.scope.folder": `{"site":"https://contoso.sharepoint.com/sites/legal","folder":"../x"}`,
	} {
		if got := e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+made.ID+`","scope":`+scope+`}`).refused(422, knowledge.CodeInvalid); got[0] != location {
			t.Errorf("%s: the error names %v", location, got)
		}
	}
	var sync struct {
		Place string
		Scope map[string]string
	}
	e.decoded(e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+made.ID+`","scope":{"site":"https://contoso.sharepoint.com/sites/legal","drive":"Documents"}}`), 202, &sync)
	if sync.Place != "https://contoso.sharepoint.com/sites/legal/Documents" || sync.Scope["site"] == "" {
		t.Errorf("the sync is %+v", sync)
	}
}

// TestSharePointCheck asks for what an application lacks, and returns when its secret expires.
func TestSharePointCheck(t *testing.T) {
	t.Parallel()
	e := open(t)
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.SecretEnds = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	g.Permit("Sites.Read.All", "Application.Read.All")
	fake := httptest.NewServer(g)
	t.Cleanup(fake.Close)
	g.World.Create(0, "a.txt", false, "text")
	body, err := json.Marshal(map[string]any{
		"type": "sharepoint", "options": map[string]string{"url": fake.URL, "tenant": sourcetest.MSTenant, "client_id": sourcetest.MSClient}, "secret": g.Secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID string }
	e.decoded(e.do("POST", own+"/connections", e.admin, string(body)), 201, &made)
	check := func(body any) (got struct {
		shownCheck
		SecretEnds *time.Time `json:"secret_ends"`
	}) {
		t.Helper()
		e.decoded(e.do("POST", own+"/connections/"+made.ID+"/check", e.admin, body), 200, &got)
		return got
	}
	if got := check(nil); !got.OK || got.SecretEnds == nil || !got.SecretEnds.Equal(g.SecretEnds) {
		t.Errorf("the check is %+v, its secret expires at %v", got, got.SecretEnds)
	}
	var kept struct {
		SecretEnds *time.Time `json:"secret_ends"`
	}
	if e.decoded(e.do("GET", own+"/connections/"+made.ID, e.admin, nil), 200, &kept); kept.SecretEnds == nil || !kept.SecretEnds.Equal(g.SecretEnds) {
		t.Errorf("after the check the connection says %v", kept.SecretEnds)
	}
	scope := `{"scope":{"site":"` + fake.URL + `/sites/legal","drive":"Dokumente"}`
	if got := check(scope + `}`); !got.OK || got.Preview == nil || got.Preview.Files != 1 {
		t.Errorf("the place is %+v", got)
	}
	got := check(scope + `,"permissions":"mirror"}`)
	if got.OK || got.Error == nil || got.Error.Code != "forbidden" || !strings.Contains(got.Error.Message, "please grant the application "+sourcetest.MSClient+" the application permission Sites.FullControl.All") {
		t.Errorf("with mirror it is %+v", got.Error)
	}
}
