package api_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"
)

// TestStreamsEndWithTheirSession signs one of two browsers of a key out while both read
// events.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	e := open(t)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	run := e.do("POST", hooks+"/document", e.editor, `{"name":"a.txt","content":{"text":"one"}}`).want(202)["runId"].(string)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, stays := "cairn_session="+signIn(e, e.editor).Value, "cairn_session="+signIn(e, e.editor).Value
	events := server.URL + "/runs/" + run + "/events"
	ended, other := followStream(ctx, t, events, "Cookie", out), followStream(ctx, t, events, "Cookie", stays)
	signedOut := time.Now()
	e.do("DELETE", "/auth/session", "", nil, "Cookie", out, "Sec-Fetch-Site", "same-origin").want(204)
	select {
	case err := <-ended:
		if took := time.Since(signedOut); err != nil || took > 5*time.Second {
			t.Errorf("the stream of the browser that signed out ended after %v: %v", took, err)
		}
	case <-ctx.Done():
		t.Fatal("the stream of the browser that signed out is open")
	}
	select {
	case err := <-other:
		t.Errorf("the stream of the other browser ended: %v", err)
	default:
	}
}
