package api_test

import (
	"context"
	"io"
	"net/http"
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
	follow := func(session string) <-chan error {
		r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/runs/"+run+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", session)
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("follow the run: %v, %v", res, err)
		}
		ended := make(chan error, 1)
		go func() {
			defer res.Body.Close()
			_, err := io.Copy(io.Discard, res.Body)
			ended <- err
		}()
		return ended
	}
	out, stays := "cairn_session="+signIn(e, e.editor).Value, "cairn_session="+signIn(e, e.editor).Value
	ended, other := follow(out), follow(stays)
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
