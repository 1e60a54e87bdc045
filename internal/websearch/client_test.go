package websearch_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// engine serves an answer and records what it was asked.
type engine struct {
	*httptest.Server
	path   string
	query  map[string][]string
	body   map[string]any
	header http.Header
}

func serve(t *testing.T, status int, answer string) *engine {
	t.Helper()
	e := &engine{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.path, e.query, e.header, e.body = r.URL.Path, r.URL.Query(), r.Header, nil
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&e.body); err != nil {
				t.Error(err)
			}
		}
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *engine) client(t *testing.T, p knowledge.WebProvider) *websearch.Client {
	t.Helper()
	c, err := websearch.New(websearch.Config{Provider: p, URL: e.URL + "/", Key: "secret", Engine: "cx1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var answers = map[knowledge.WebProvider]string{
	knowledge.SearXNG: `{"query":"tea","results":[
		{"title":"Tea","url":"https://a.org/tea","content":"All about tea","engine":"bing","score":4},
		{"title":"Tea again","url":"https://a.org/tea","content":"","engine":"ddg","score":3},
		{"title":"Green <b>tea</b>","url":"https://b.org/","content":"Green\n tea","engine":"google","score":2}]}`,
	knowledge.Brave: `{"type":"search","web":{"results":[
		{"title":"Tea","url":"https://a.org/tea","description":"All about tea"},
		{"title":"Green tea","url":"https://b.org/","description":"Green <strong>tea</strong>"}]}}`,
	knowledge.Serper: `{"searchParameters":{"q":"tea"},"organic":[
		{"title":"Tea","link":"https://a.org/tea","snippet":"All about tea","position":1},
		{"title":"Green tea","link":"https://b.org/","snippet":"Green tea","position":2}]}`,
	knowledge.Google: `{"items":[
		{"title":"Tea","link":"https://a.org/tea","snippet":"All about tea"},
		{"title":"Green tea","link":"https://b.org/","snippet":"Green tea"}]}`,
}

func TestSearch(t *testing.T) {
	t.Parallel()
	engines := map[knowledge.WebProvider][]string{
		knowledge.SearXNG: {"bing", "google"}, knowledge.Brave: {"brave", "brave"}, knowledge.Serper: {"google", "google"}, knowledge.Google: {"google", "google"},
	}
	for provider, answer := range answers {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			e := serve(t, http.StatusOK, answer)
			found, err := e.client(t, provider).Search(t.Context(), websearch.Query{Text: " tea\n"})
			if err != nil {
				t.Fatal(err)
			}
			want := []websearch.Result{
				{Title: "Tea", URL: "https://a.org/tea", Snippet: "All about tea", Engine: engines[provider][0], Score: 1},
				{Title: "Green tea", URL: "https://b.org/", Snippet: "Green tea", Engine: engines[provider][1], Score: 0.5},
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	only := websearch.Domains{"a.org", "b.org"}
	for provider, want := range map[knowledge.WebProvider]string{
		knowledge.SearXNG: "/search categories=general format=json q=tea (site:a.org OR site:b.org) time_range=week Authorization",
		knowledge.Brave:   "/res/v1/web/search count=15 freshness=pw q=tea (site:a.org OR site:b.org) X-Subscription-Token",
		knowledge.Serper:  "/search num=15 q=tea (site:a.org OR site:b.org) tbs=qdr:w X-Api-Key",
		knowledge.Google:  "/customsearch/v1 cx=cx1 dateRestrict=w1 key=secret num=10 q=tea (site:a.org OR site:b.org)",
	} {
		e := serve(t, http.StatusOK, answers[provider])
		if _, err := e.client(t, provider).Search(t.Context(), websearch.Query{Text: "tea", Since: "week", Only: only}); err != nil {
			t.Fatal(err)
		}
		if got := e.asked(); got != want {
			t.Errorf("%s was asked %q, want %q", provider, got, want)
		}
	}
}

// asked returns the path, the parameters in their order, and the header with the key.
func (e *engine) asked() string {
	parts := []string{e.path}
	for _, name := range []string{"categories", "count", "cx", "dateRestrict", "format", "freshness", "key", "num", "q", "searchType", "tbs", "time_range"} {
		value, ok := e.body[name]
		if v := e.query[name]; len(v) > 0 {
			value, ok = v[0], true
		}
		if ok {
			text, _ := json.Marshal(value)
			parts = append(parts, name+"="+strings.Trim(string(text), `"`))
		}
	}
	for _, name := range []string{"Authorization", "X-Subscription-Token", "X-Api-Key"} {
		if strings.Contains(e.header.Get(name), "secret") {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " ")
}

// TestTypes: each type of a search, at each provider that has it.
func TestTypes(t *testing.T) {
	t.Parallel()
	types := []knowledge.WebType{
		knowledge.WebPages, knowledge.WebNews, knowledge.WebImages, knowledge.WebVideos, knowledge.WebPlaces, knowledge.WebScholar, knowledge.WebPatents, knowledge.WebShopping,
	}
	lists := map[knowledge.WebProvider]map[knowledge.WebType]string{
		knowledge.Serper: {knowledge.WebNews: "news", knowledge.WebImages: "images", knowledge.WebVideos: "videos", knowledge.WebPlaces: "places", knowledge.WebShopping: "shopping"},
		knowledge.Brave:  {knowledge.WebNews: "", knowledge.WebImages: "", knowledge.WebVideos: "", knowledge.WebPlaces: "locations"},
	}
	asked := map[string]string{}
	for provider := range answers {
		for _, kind := range types {
			e := serve(t, http.StatusOK, answerOf(provider, lists[provider], kind))
			found, err := e.client(t, provider).Search(t.Context(), websearch.Query{Text: "tea", Type: kind, Since: "day"})
			if !provider.Has(kind) {
				if !knowledge.IsCode(err, knowledge.CodeInvalid) || e.path != "" {
					t.Errorf("%s %s: %v", provider, kind, err)
				}
				continue
			}
			if err != nil || len(found) == 0 || found[0].Title != "Tea" {
				t.Errorf("%s %s: %v, %v", provider, kind, found, err)
			}
			asked[string(provider)+" "+string(kind)] = e.asked()
		}
	}
	for name, want := range map[string]string{
		"searxng scholar": "/search categories=science format=json q=tea time_range=day Authorization",
		"searxng patents": "/search categories=general format=json q=tea site:patents.google.com time_range=day Authorization",
		"serper patents":  "/patents num=15 q=tea tbs=qdr:d X-Api-Key",
		"serper shopping": "/shopping num=15 q=tea tbs=qdr:d X-Api-Key",
		"brave images":    "/res/v1/images/search count=15 q=tea X-Subscription-Token",
		"brave news":      "/res/v1/news/search count=15 freshness=pd q=tea X-Subscription-Token",
		"google images":   "/customsearch/v1 cx=cx1 dateRestrict=d1 key=secret num=10 q=tea searchType=image",
	} {
		if asked[name] != want {
			t.Errorf("%s was asked %q, want %q", name, asked[name], want)
		}
	}
	if len(asked) != 8+6+8+3 {
		t.Errorf("%d searches: %v", len(asked), asked)
	}
}

// answerOf returns an answer whose results are in the list of a type.
func answerOf(p knowledge.WebProvider, lists map[knowledge.WebType]string, kind knowledge.WebType) string {
	list, ok := lists[kind]
	switch {
	case !ok:
		return answers[p]
	case p == knowledge.Serper:
		return `{"` + list + `":[{"title":"Tea","link":"https://a.org/tea","address":"Main Street 1"}]}`
	case list == "":
		return `{"results":[{"title":"Tea","url":"https://a.org/tea"}]}`
	}
	return `{"` + list + `":{"results":[{"title":"Tea","url":"https://a.org/tea"}]}}`
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status    int
		answer    string
		retryable bool
		says      string
	}{
		"a wrong key":         {http.StatusUnauthorized, `{}`, false, "status 401"},
		"no JSON allowed":     {http.StatusForbidden, `<html>`, false, "status 403"},
		"too many requests":   {http.StatusTooManyRequests, `{}`, true, "status 429"},
		"a broken engine":     {http.StatusBadGateway, `{}`, true, "status 502"},
		"a page and no JSON":  {http.StatusOK, ` <html>`, false, "a web page in place of JSON"},
		"a list of the wrong": {http.StatusOK, `{"organic":{"a":1}}`, false, "serper"},
	} {
		_, err := serve(t, test.status, test.answer).client(t, knowledge.Serper).Search(t.Context(), websearch.Query{Text: "tea"})
		if !knowledge.IsCode(err, knowledge.CodeProviderFailed) || knowledge.AsError(err).Retryable != test.retryable {
			t.Errorf("%s: %v", name, err)
		}
		if message := knowledge.AsError(err).Message; !strings.Contains(message, test.says) {
			t.Errorf("%s: people read %q", name, message)
		}
		if test.retryable && knowledge.AsError(err).RetryAfter == 0 {
			t.Errorf("%s: no pause", name)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the key is in %v", name, err)
		}
	}
	e := serve(t, http.StatusOK, "")
	client := e.client(t, knowledge.Google)
	e.Close()
	if _, err := client.Search(t.Context(), websearch.Query{Text: "tea"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an engine that is not there: %v", err)
	}
	if _, err := websearch.New(websearch.Config{Provider: knowledge.SearXNG}, nil); err == nil {
		t.Error("SearXNG without an address")
	}
	if _, err := websearch.New(websearch.Config{Provider: "bing", URL: "https://a.org"}, nil); err == nil {
		t.Error("an unknown provider")
	}
}

// TestRulesOfTheInstance: the domains of the instance hold for every search.
func TestRulesOfTheInstance(t *testing.T) {
	t.Parallel()
	e := serve(t, http.StatusOK, `{"organic":[{"title":"One","link":"https://one.test/"},{"title":"Ad","link":"https://sub.ads.test/"},{"title":"Own","link":"https://own.test/"}]}`)
	rules, err := websearch.RulesOf(knowledge.WebSearchConfig{BonusDomains: []string{"own.test"}, BlacklistedDomains: []string{"ads.test"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := websearch.New(websearch.Config{Provider: knowledge.Serper, URL: e.URL, Key: "secret", Rules: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.Search(t.Context(), websearch.Query{Text: "tea"})
	var urls []string
	for _, r := range found {
		urls = append(urls, r.URL)
	}
	if err != nil || strings.Contains(strings.Join(urls, " "), "ads.test") || len(urls) != 2 {
		t.Errorf("%v, %v", urls, err)
	}
}
