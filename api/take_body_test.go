package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
)

// TestIdleBodies: who only begins to send a body, of a length that is not known
// or said to be great, keeps nobody else from sending one.
func TestIdleBodies(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.BodyMemory = 4 << 20 })
	server := httptest.NewServer(e.handler)
	defer server.Close()
	for _, framing := range []string{"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"nam", "Content-Length: 4000000\r\n\r\n{\"nam"} {
		idle, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
		if _, err := fmt.Fprintf(idle, "POST %s/document HTTP/1.1\r\nHost: cairn\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", hooks, e.editor, framing); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // each would need all of the room if the idle ones held any
		body := fmt.Sprintf(`{"name":"a.txt","content":{"text":%q}}`, strings.Repeat("text ", 600_000))
		request, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+hooks+"/document", io.NopCloser(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+e.editor)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusAccepted {
			t.Errorf("answered %d", response.StatusCode)
		}
	}
	server.CloseClientConnections()
}

// TestRefusedBodyIsRead: a client that sends all of a body before it reads comes
// to know that it was too large.
func TestRefusedBodyIsRead(t *testing.T) {
	t.Parallel()
	e := open(t)
	server := httptest.NewServer(e.handler)
	defer server.Close()
	body := bytes.Repeat([]byte("a"), 5<<20)
	for _, framing := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)), fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(body))} {
		client, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := fmt.Fprintf(client, "POST %s/query HTTP/1.1\r\nHost: cairn\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", hooks, e.reader, framing); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write(append(body, "\r\n0\r\n\r\n"...)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("answered %d", response.StatusCode)
		}
	}
}
