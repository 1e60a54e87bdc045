package sse_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cairn-rag/cairn/internal/sse"
)

func TestWriter(t *testing.T) {
	t.Parallel()

	t.Run("a client that leaves ends the writing", func(t *testing.T) {
		t.Parallel()
		ended := make(chan error, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writer := sse.NewWriter(w, sse.Options{})
			for {
				if err := writer.Comment("alive"); err != nil {
					ended <- err
					return
				}
			}
		}))
		defer server.Close()
		ctx, leave := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		_ = response.Body.Close()
		if err := <-ended; err == nil {
			t.Error("ended without an error")
		}
	})

	t.Run("the bytes of a protocol whose clients do not connect again", func(t *testing.T) {
		t.Parallel()
		w := httptest.NewRecorder()
		writer := sse.NewWriter(w, sse.Options{NoRetry: true})
		for _, err := range []error{
			writer.Comment("still here"),
			writer.Messages(sse.Message{Event: "response.created", Data: []byte(`{"type":"a"}`)}),
			writer.Put(sse.Message{Data: []byte("[DONE]")}),
			writer.Flush(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := ": still here\n\nevent: response.created\ndata: {\"type\":\"a\"}\n\ndata: [DONE]\n\n"; w.Body.String() != want {
			t.Errorf("the stream is %q, want %q", w.Body, want)
		}
	})
}
