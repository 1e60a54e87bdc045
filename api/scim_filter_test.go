package api_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestSCIMFilters asks for users by filters of every kind. None of them is a failure of ours.
func TestSCIMFilters(t *testing.T) {
	t.Parallel()
	e := open(t)
	const head = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],`
	for _, user := range []string{
		`"userName":"ann","displayName":"Ann","active":true,"emails":[{"type":"work","value":"ann@work.example"},{"type":"home","value":"ann@home.example"}],"roles":[{"value":"reader"}]}`,
		`"userName":"bob","displayName":"Bob","externalId":"X1","active":false,"name":{"familyName":"Keeper"},"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{"department":"Lights"}}`,
		`"userName":"cleo","title":"Pilot","emails":[{"type":"home","value":"cleo@work.example"}]}`,
	} {
		e.do("POST", "/scim/v2/Users", e.admin, head+user).want(201)
	}
	for filter, want := range map[string]string{
		`userName eq "ANN"`:                                         "ann",
		`externalId eq "X1"`:                                        "bob",
		`externalId eq "x1"`:                                        "",
		`active eq false`:                                           "bob",
		`userName ne "ann" and active eq true`:                      "cleo",
		`userName eq "ann" or userName eq "cleo"`:                   "ann cleo",
		`not (userName eq "ann")`:                                   "bob cleo",
		`displayName co "o"`:                                        "bob",
		`displayName sw "an"`:                                       "ann",
		`title pr`:                                                  "cleo",
		`name.familyName ew "per"`:                                  "bob",
		`emails.value eq "ann@home.example"`:                        "ann",
		`emails[type eq "work" and value co "@work"]`:               "ann",
		`emails co "@work"`:                                         "ann cleo",
		`roles eq "reader"`:                                         "ann",
		`userName gt "ann"`:                                         "bob cleo",
		`meta.lastModified gt "2000-01-01T00:00:00Z"`:               "ann bob cleo",
		`(userName eq "ann" or active eq false) and displayName pr`: "ann bob",
		`urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "lights"`: "bob",
	} {
		got := e.do("GET", "/scim/v2/Users?filter="+url.QueryEscape(filter), e.admin, nil)
		var list struct {
			TotalResults int
			Resources    []struct{ UserName string }
		}
		if err := json.Unmarshal(got.body, &list); err != nil || got.status != 200 {
			t.Errorf("%s: status %d, %s", filter, got.status, got.body)
			continue
		}
		var names []string
		for _, u := range list.Resources {
			names = append(names, u.UserName)
		}
		slices.Sort(names)
		if strings.Join(names, " ") != want || list.TotalResults != len(names) {
			t.Errorf("%s: %v of %d, want %s", filter, names, list.TotalResults, want)
		}
	}
	for _, wrong := range []string{`userName`, `userName eq`, `nothing eq "a"`, `active gt true`, `((((`, `emails[`, strings.Repeat("(", 2000) + `userName eq "a"` + strings.Repeat(")", 2000)} {
		if got := e.do("GET", "/scim/v2/Users?filter="+url.QueryEscape(wrong), e.admin, nil); got.status != 400 && (got.status != 200 || len(wrong) < 100) {
			t.Errorf("%.50s: status %d, %.300s", wrong, got.status, got.body)
		}
	}
}
