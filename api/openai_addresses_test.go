package api_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// hosts resolves a few names.
type hosts map[string]string

// LookupNetIP implements safedial.Resolver.
func (h hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var list []netip.Addr
	for _, address := range strings.Fields(h[host]) {
		list = append(list, netip.MustParseAddr(address))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no such host %s", host)
	}
	return list, nil
}

// TestForwardedPicturesInside completes chats with pictures, which the endpoint of the model
// fetches.
func TestForwardedPicturesInside(t *testing.T) {
	t.Parallel()
	names := hosts{"pictures.test": "203.0.114.7", "inside.test": "10.0.0.1", "both.test": "203.0.114.7 127.0.0.1"}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Addresses = safedial.New(safedial.Config{Resolver: names}) })
	const chat = "/v1/chat/completions"
	ask := func(parts string) answer {
		return e.do("POST", chat, e.reader, `{"model":"stand-in","messages":[{"role":"system","content":"See http://127.0.0.1/"},{"role":"user","content":[{"type":"text","text":"What is on http://127.0.0.1/ ?"},`+parts+`]}]}`)
	}
	for _, accepted := range []string{"http://pictures.test/a.png", "https://pictures.test:8443/a.png", "data:image/png;base64,AAAA"} {
		if got := ask(`{"type":"image_url","image_url":{"url":"` + accepted + `","detail":"low"}}`); got.status != 200 {
			t.Errorf("%s: status %d: %s", accepted, got.status, got.body)
		}
	}
	asked := e.models.Totals().Chats.Asked
	for _, address := range []string{
		"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest/", "http://10.0.0.1:8080/",
		"http://inside.test/", "http://both.test/", "http://nowhere.test/", "file:///etc/passwd", "//127.0.0.1/", "ftp://pictures.test/a.png", "http://user@pictures.test/", "http://pictures.test:99999/",
	} {
		for _, part := range []string{`{"type":"image_url","image_url":{"url":"%s"}}`, `{"type":"image_url","image_url":"%s"}`, `{"type":"video_url","video_url":{"URL":"%s"}}`} {
			got := ask(fmt.Sprintf(part, address))
			if param := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != "messages[1].content" {
				t.Errorf("%s: param %v: %s", address, param, got.body)
			}
		}
	}
	if now := e.models.Totals().Chats.Asked; now != asked {
		t.Errorf("%d refused requests reached the model", now-asked)
	}
}
