package api_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
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
