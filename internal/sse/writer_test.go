package sse_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/sse"
)

func TestWriter(t *testing.T) {
	t.Parallel()

	t.Run("a client that does not read is dropped", func(t *testing.T) {
		t.Parallel()
		ended := make(chan error, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writer := sse.NewWriter(w, sse.Options{WriteTimeout: 50 * time.Millisecond})
			data := make([]byte, 1<<20)
			for {
				if err := writer.Event(1, "e", data); err != nil {
					ended <- err
					return
				}
			}
		}))
		defer server.Close()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})

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
}
