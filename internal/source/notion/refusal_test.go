package notion_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/notion"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// answers makes a fake answer an error to the requests whose paths have a text.
func (p *place) answers(text string, status int, code string) {
	p.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, text) {
			return false
		}
		sourcetest.NotionError(w, status, code)
		return true
	}
}

// TestTry has a wrong token, an integration that may not read, and one with which nothing is
// shared.
func TestTry(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := func(sentence string) {
		t.Helper()
		err := notion.Try(t.Context(), p.follow, sourcetest.Local(p))
		if sentence == "" && err != nil || sentence != "" && (!knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), sentence)) {
			t.Errorf("want %q: %v", sentence, err)
		}
	}
	want("add the integration")
	p.World.Create(0, "page", false, "text")
	want("")
	p.answers("search", http.StatusForbidden, "restricted_resource")
	want("Read content")
	p.follow.Credentials = "expired"
	p.answers("none", 0, "")
	want("access token")
}

// TestErrorsOfListings has answers that end a listing, some of which a repetition helps.
func TestErrorsOfListings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.World.Create(0, "page", false, "text")
		time.Sleep(time.Hour)
		for _, c := range []struct {
			status int
			says   string
			code   knowledge.Code
			again  bool
		}{
			{http.StatusUnauthorized, "unauthorized", knowledge.CodeForbidden, false},
			{http.StatusForbidden, "restricted_resource", knowledge.CodeForbidden, false},
			{http.StatusConflict, "conflict_error", knowledge.CodeUnavailable, true},
			{http.StatusTooManyRequests, "rate_limited", knowledge.CodeRateLimited, true},
			{http.StatusBadGateway, "bad_gateway", knowledge.CodeUnavailable, true},
			{http.StatusServiceUnavailable, "service_unavailable", knowledge.CodeUnavailable, true},
			{http.StatusGatewayTimeout, "gateway_timeout", knowledge.CodeUnavailable, true},
		} {
			for _, path := range []string{"search", "children"} {
				p.answers(path, c.status, c.says)
				_, err := p.list()
				if known, ok := errors.AsType[*knowledge.Error](err); !ok || known.Code != c.code || known.Retryable != c.again || p.follow.Cursor != "" {
					t.Errorf("%d to %s: %v, the cursor is %q", c.status, path, err, p.follow.Cursor)
				}
			}
		}
	})
}

// TestAPageThatCannotBeRead has a page with a block that Notion's interface does not support.
func TestAPageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page := p.World.Create(0, "page", false, "text")
	p.answers("children", http.StatusBadRequest, "validation_error")
	l := p.mustList()
	p.want(l, "page")
	if _, _, err := p.read(l.objects[p.Key(page)]); !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), "validation_error") {
		t.Errorf("it is read: %v", err)
	}
}

// TestAPageVanishesWhileItIsRead has a page that is archived after it was listed, and one whose
// blocks are gone while the search still finds it.
func TestAPageVanishesWhileItIsRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page := p.World.Create(0, "page", false, "text")
	o := p.mustList().objects[p.Key(page)]
	p.World.Trash(page, true)
	if _, _, err := p.read(o); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("an archived page: %v", err)
	}
	p.World.Trash(page, false)
	p.answers("children", http.StatusNotFound, "object_not_found")
	p.follow.Cursor = ""
	p.want(p.mustList())
}

// TestExpiredAddresses has files whose signed addresses have expired when they are used, in a
// block and in a property of a page.
func TestExpiredAddresses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page := p.World.Create(0, "page", true, "text")
	file := p.World.Create(page, "tides.txt", false, "the tides")
	p.Attached = func(id int) bool { return id == file }
	p.Properties = func(int) map[string]any {
		hosted := map[string]any{"name": "tides.txt", "type": "file", "file": map[string]any{"url": "http://files.test/signed/2/1/tides.txt?until=9223372036854775807"}}
		linked := map[string]any{"name": "elsewhere", "type": "external", "external": map[string]any{"url": "https://example.org/x.pdf"}}
		return map[string]any{"Plans": map[string]any{"id": "a%3Ab", "type": "files", "files": []any{hosted, linked, hosted}}}
	}
	p.Signed = -time.Hour
	l := p.mustList()
	p.want(l, "page", "page/tides.txt", "page/tides.txt", "page/tides.txt")
	o := l.objects[p.Key(file)]
	if _, _, err := p.read(o); !knowledge.IsCode(err, knowledge.CodeForbidden) {
		t.Errorf("an expired address: %v", err)
	}
	asked := 0
	p.Answer = func(http.ResponseWriter, *http.Request) bool {
		if asked++; asked == 2 {
			p.Signed = time.Hour
		}
		return false
	}
	text, now, err := p.read(o)
	if err != nil || text != "the tides" || now.ETag != o.ETag || asked != 2 {
		t.Errorf("asked %d times, read is %q with the etag %q instead of %q: %v", asked, text, now.ETag, o.ETag, err)
	}
	for key, o := range l.objects {
		if strings.Contains(o.Address+o.Ref+key, "until") {
			t.Errorf("%s keeps a signature", key)
		}
		if text, _, err := p.read(o); strings.HasPrefix(key, "file:") && (err != nil || text != "the tides") {
			t.Errorf("%s: read is %q: %v", key, text, err)
		}
	}
	if _, _, err := p.open().Open(t.Context(), o, o.ETag); !errors.Is(err, source.ErrUnchanged) {
		t.Errorf("the unchanged file: %v", err)
	}
}
