package edge_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/sse"
)

// TestSlowClients: a client that stops reading holds no connection and no
// goroutine, and one that reads slowly gets everything.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const size = 100 << 10
	for name, answer := range map[string]func(http.ResponseWriter) error{
		"one_large_write": func(w http.ResponseWriter) error { _, err := w.Write(make([]byte, size)); return err },
		"a_copied_file": func(w http.ResponseWriter) error {
			_, err := io.Copy(w, io.LimitReader(zeros{}, size))
			return err
		},
		"events": func(w http.ResponseWriter) error {
			writer := sse.NewWriter(w, sse.Options{})
			for id := range int64(size >> 10) {
				if err := writer.Event(id, "e", make([]byte, 1<<10)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name+"/read_slowly", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, ended := serveOne(t, answer)
				read := 0
				for buffer := make([]byte, 1<<10); read < size; {
					time.Sleep(5 * time.Second)
					n, err := client.Read(buffer)
					if err != nil {
						t.Fatalf("cut off after %d bytes: %v", read, err)
					}
					read += n
				}
				go func() { _, _ = io.Copy(io.Discard, client) }() // the end of the framing
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
		t.Run(name+"/no_longer_read", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, ended := serveOne(t, answer)
				if _, err := client.Read(make([]byte, 1<<10)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				err := <-ended
				if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 2*time.Minute {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// serveOne answers one request, over a connection without buffers. ended has what
// answer returned.
func serveOne(t *testing.T, answer func(http.ResponseWriter) error) (client net.Conn, ended <-chan error) {
	t.Helper()
	client, server := net.Pipe()
	result := make(chan error, 1)
	handler := edge.Observe(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { result <- answer(w) }))
	connections := make(chan net.Conn, 1)
	connections <- server
	h := &http.Server{Handler: handler}
	listener := pipes{connections}
	go func() { _ = h.Serve(listener) }() // until the test closes it
	t.Cleanup(func() { _ = h.Close(); _ = client.Close() })
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return client, result
}

// pipes is a listener of connections that are there already.
type pipes struct{ connections chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p.connections
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p.connections); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }
