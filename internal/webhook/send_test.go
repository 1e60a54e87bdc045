package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/webhook"
)

var loopback = netip.MustParsePrefix("127.0.0.1/32")

func sender(allow ...netip.Prefix) *webhook.Sender {
	return webhook.NewSender(safedial.New(safedial.Config{Allow: allow}).Client(webhook.Timeout))
}

// receiver serves a handler on loopback and returns its address.
func receiver(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func message(address string) webhook.Message {
	return webhook.Message{ID: "event-1", URL: address, Secret: webhook.NewSecret(), Body: []byte(`{"type":"documents_created"}`)}
}

func TestSend(t *testing.T) {
	t.Parallel()

	t.Run("a request is signed as Standard Webhooks say", func(t *testing.T) {
		t.Parallel()
		var header http.Header
		var body []byte
		m := message(receiver(t, func(_ http.ResponseWriter, r *http.Request) {
			header = r.Header
			body, _ = io.ReadAll(r.Body)
		}))
		m.APIKey = "key of theirs"
		if r := sender(loopback).Send(t.Context(), m); r.Outcome != webhook.Taken || r.HTTPStatus != 200 || r.Error != "" {
			t.Fatalf("result %+v", r)
		}
		verifier, err := standardwebhooks.NewWebhook(m.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(body, header); err != nil {
			t.Errorf("the signature does not hold: %v", err)
		}
		if err := verifier.Verify(append(body, ' '), header); err == nil {
			t.Error("the signature holds for another body")
		}
		if header.Get("webhook-id") != "event-1" || header.Get("knowledge-project-apiKey") != "key of theirs" || header.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", header)
		}
		if !bytes.Equal(body, m.Body) {
			t.Errorf("body %s", body)
		}
	})

	t.Run("the header of the key is written as receivers know it", func(t *testing.T) {
		t.Parallel()
		var header map[string][]string // as they are written
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			header = r.Header
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		})}
		m := message("http://receiver.test/")
		m.APIKey = "k"
		webhook.NewSender(client).Send(t.Context(), m)
		if diff := cmp.Diff([]string{"k"}, header["knowledge-project-apiKey"]); diff != "" {
			t.Errorf("header %v", header)
		}
		m.APIKey = ""
		webhook.NewSender(client).Send(t.Context(), m)
		if _, sent := header["knowledge-project-apiKey"]; sent {
			t.Error("an empty key is sent")
		}
	})

	t.Run("the status decides", func(t *testing.T) {
		t.Parallel()
		for status, want := range map[int]webhook.Outcome{
			200: webhook.Taken, 204: webhook.Taken, 299: webhook.Taken,
			301: webhook.Retry, 307: webhook.Retry, 408: webhook.Retry, 425: webhook.Retry, 429: webhook.Retry, 500: webhook.Retry, 503: webhook.Retry,
			400: webhook.Refused, 401: webhook.Refused, 404: webhook.Refused, 422: webhook.Refused, 410: webhook.Gone,
		} {
			followed := false
			address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
				followed = followed || r.URL.Path == "/elsewhere"
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
			})
			r := sender(loopback).Send(t.Context(), message(address))
			if r.Outcome != want || r.HTTPStatus != status || (r.Error == "") != (want == webhook.Taken) || followed {
				t.Errorf("%d: %+v, followed: %t", status, r, followed)
			}
			if want != webhook.Taken && !strings.Contains(r.Error, fmt.Sprint(status)) {
				t.Errorf("%d: error %q", status, r.Error)
			}
		}
	})

	t.Run("Retry-After is read as seconds and as a date", func(t *testing.T) {
		t.Parallel()
		for value, want := range map[string]time.Duration{
			"120": 2 * time.Minute, "-5": 0, "0": 0, "soon": 0, "99999999999": webhook.GiveUpAfter,
			time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0, time.Now().Add(365 * 24 * time.Hour).UTC().Format(http.TimeFormat): webhook.GiveUpAfter,
		} {
			address := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(429)
			})
			if r := sender(loopback).Send(t.Context(), message(address)); r.RetryAfter != want {
				t.Errorf("%q: %v, want %v", value, r.RetryAfter, want)
			}
		}
	})
}

func TestSendToBadReceivers(t *testing.T) {
	t.Parallel()

	t.Run("an answer of 10 MB is not read, and the event is taken", func(t *testing.T) {
		t.Parallel()
		var written atomic.Int64
		done := make(chan struct{})
		address := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			defer close(done)
			fmt.Fprint(w, `{"status":"error","error":{"message":"`)
			block := bytes.Repeat([]byte("x"), 1<<20)
			for range 10 {
				n, err := w.Write(block)
				if written.Add(int64(n)); err != nil {
					return
				}
			}
		})
		r := sender(loopback).Send(t.Context(), message(address))
		if r.Outcome != webhook.Taken || r.Answer != nil {
			t.Errorf("result %+v", r)
		}
		<-done
		if written.Load() >= 10<<20 {
			t.Error("the whole answer was read")
		}
	})

	t.Run("a private address is refused, and nothing of it is told", func(t *testing.T) {
		t.Parallel()
		address := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("it was dialled") })
		if r := sender().Send(t.Context(), message(address)); r.Outcome != webhook.Refused || r.Error == "" || strings.Contains(r.Error, "127.0.0.1") {
			t.Errorf("result %+v", r)
		}
	})

	t.Run("an address that nobody listens at is tried again", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		if r := sender(loopback).Send(t.Context(), message(server.URL)); r.Outcome != webhook.Retry || r.HTTPStatus != 0 || r.Error != "the address could not be reached" {
			t.Errorf("result %+v", r)
		}
	})

	t.Run("a certificate that is not valid is told", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewTLSServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		if r := sender(loopback).Send(t.Context(), message(server.URL)); r.Outcome != webhook.Retry || r.Error != "the certificate of the address is not valid" {
			t.Errorf("result %+v", r)
		}
	})
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endless is a body that never ends and never brings anything.
type endless struct{ ctx context.Context }

func (b endless) Read([]byte) (int, error) { <-b.ctx.Done(); return 0, b.ctx.Err() }
func (endless) Close() error               { return nil }

func TestSendTimes(t *testing.T) {
	t.Parallel()

	t.Run("a receiver that hangs is given twenty seconds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
			start := time.Now()
			r := webhook.NewSender(client).Send(t.Context(), message("http://receiver.test/"))
			if r.Outcome != webhook.Retry || r.HTTPStatus != 0 || r.Error != "the address did not answer within 20 seconds" {
				t.Errorf("result %+v", r)
			}
			if took := time.Since(start); took != 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	})

	t.Run("an answer that does not end is judged by its status", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 202, Body: endless{r.Context()}}, nil
			})}
			start := time.Now()
			r := webhook.NewSender(client).Send(t.Context(), message("http://receiver.test/"))
			if took := time.Since(start); r.Outcome != webhook.Taken || r.Answer != nil || took != 20*time.Second {
				t.Errorf("result %+v after %v", r, took)
			}
		})
	})
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 2000)
	for body, want := range map[string]*knowledge.WebhookAnswer{
		`{"status":"success"}`: {Status: "success"},
		`{"status":"error","error":{"message":"no\u0007 room"}}`: {Status: "error", Message: "no  room"},
		`{"status":"error"}`: {Status: "error"},
		`{"status":"error","error":{"message":"` + long + `"}}`:      {Status: "error", Message: long[:2000] + "…"},
		`{"status":"success","error":{"message":"unasked"},"x":[1]}`: {Status: "success"},
		`{"status":"maybe"}`: nil, `ok`: nil, ``: nil, `[]`: nil, `{"status":1}`: nil, `{"status":"error","error":"text"}`: nil,
	} {
		address := receiver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		r := sender(loopback).Send(t.Context(), message(address))
		if diff := cmp.Diff(want, r.Answer); diff != "" {
			t.Errorf("%.60s: %s", body, diff)
		}
	}
}

func TestNextAttempt(t *testing.T) {
	t.Parallel()
	since := created
	now, failed, delays := since, webhook.Result{}, []time.Duration{}
	for attempts := 1; ; attempts++ {
		at, last := webhook.NextAttempt(attempts, since, now, failed)
		if last {
			break
		}
		delays = append(delays, at.Sub(now))
		now = at
	}
	if now.Sub(since) != 3*24*time.Hour {
		t.Errorf("the last attempt is after %v", now.Sub(since))
	}
	if delays[0] != time.Second || delays[1] != 3*time.Second || delays[8] != 6561*time.Second || delays[9] != 3*time.Hour || len(delays) > 40 {
		t.Errorf("%d delays: %v", len(delays), delays)
	}
	failed.RetryAfter = time.Minute
	if at, last := webhook.NextAttempt(9, since, since, failed); last || at.Sub(since) != time.Minute {
		t.Errorf("asked to come back in a minute: %v, %t", at.Sub(since), last)
	}
	failed.RetryAfter = webhook.GiveUpAfter
	if at, last := webhook.NextAttempt(1, since, since.Add(time.Hour), failed); last || at != since.Add(webhook.GiveUpAfter) {
		t.Errorf("asked to come back too late: %v, %t", at.Sub(since), last)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	made := webhook.NewSecret()
	for given, want := range map[string]string{
		made:                               made,
		strings.TrimPrefix(made, "whsec_"): made,
		"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"":                                 "", "whsec_": "", "whsec_short": "", "not base64 at all, but long enough": "", "whsec_" + strings.Repeat("A", 92): "",
	} {
		got, err := webhook.CheckSecret(given, "body.secret")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("CheckSecret(%q) = %q, %v", given, got, err)
		}
		if err != nil && (!knowledge.IsCode(err, knowledge.CodeInvalid) || len(given) > 10 && strings.Contains(err.Error(), given)) {
			t.Errorf("error %v", err)
		}
	}
	for key, ok := range map[string]bool{"": true, "abc-123": true, "with space": true, " x": false, "ü": false, "a\nb": false, strings.Repeat("x", 1001): false} {
		if err := webhook.CheckAPIKey(key, "body.apiKey"); (err == nil) != ok {
			t.Errorf("CheckAPIKey(%q) = %v", key, err)
		}
	}
}
