package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// failing makes every question publish these words and fail.
func (e *edge) failing(words ...string) {
	e.work.end = func(in record.AnswerInput) error {
		entries := []stream.Entry{record.QueryStarted(in)}
		for _, w := range words {
			entries = append(entries, must(stream.NewEntry(stream.TopicDelta, stream.Event{Text: w})))
		}
		entries = append(entries, must(stream.NewEntry(stream.TopicError, stream.Event{Data: stream.Data(map[string]string{"code": "provider_failed", "message": "no model"})})))
		for i, entry := range entries {
			e.logs[in.Run] = append(e.logs[in.Run], stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: int64(i)})
		}
		return e.store.EndRun(e.t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunFailed, Error: &knowledge.Failure{Code: knowledge.CodeProviderFailed}, At: time.Now()})
	}
}

// socketServer serves e to real connections and returns its address.
func (e *edge) socketServer() string {
	server := httptest.NewServer(e.handler)
	e.t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// askBySocket asks a question with stream and returns the run and the address of its
// WebSocket on the server.
func (e *edge) askBySocket(host string) (run, address string) {
	e.t.Helper()
	body := e.do("POST", hooks+"/query", e.reader, `{"text":"Why?","stream":true}`).want(202)
	if diff := cmp.Diff([]string{"messageId", "runId", "webSocketUrl"}, keysOf(body)); diff != "" {
		e.t.Fatal(diff)
	}
	u, err := url.Parse(body["webSocketUrl"].(string))
	if err != nil || u.Scheme != "ws" || u.Host == "" {
		e.t.Fatalf("webSocketUrl %v: %v", u, err)
	}
	u.Host = host
	return body["runId"].(string), u.String()
}

// message is what a WebSocket sends for an event.
type message struct {
	ID    int64          `json:"id"`
	Event string         `json:"event"`
	Data  map[string]any `json:"data"`
}

// readSocket reads to the end of a connection.
func readSocket(t *testing.T, conn *websocket.Conn) (messages []message, end websocket.CloseError) {
	t.Helper()
	conn.SetReadLimit(-1)
	for {
		_, data, err := conn.Read(t.Context())
		if errors.As(err, &end) {
			return messages, end
		}
		if err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		messages = append(messages, m)
	}
}

func dial(ctx context.Context, t *testing.T, address string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatalf("%v: %v", res, err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.failing("one ", "two")
	host := e.socketServer()
	run, address := e.askBySocket(host)
	own := "ws://" + host + "/workspaces/default/websocket?runId=" + run
	bearer := func(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

	t.Run("a page of another origin gets every event and a normal close", func(t *testing.T) {
		t.Parallel()
		messages, end := readSocket(t, dial(t.Context(), t, address, http.Header{"Origin": {"https://app.example.com"}}))
		if end.Code != websocket.StatusNormalClosure {
			t.Errorf("closed with %v", end)
		}
		var events []string
		for i, m := range messages {
			if m.ID != int64(i+1) {
				t.Errorf("event %d has the id %d", i+1, m.ID)
			}
			events = append(events, m.Event)
		}
		if diff := cmp.Diff([]string{"runStarted", "apiMessageChunk", "apiMessageChunk", "error"}, events); diff != "" {
			t.Fatal(diff)
		}
		want := map[string]any{"concatenated": map[string]any{"value": "one two"}, "chunk": map[string]any{"data": "two"}}
		if diff := cmp.Diff(want, messages[2].Data); diff != "" {
			t.Error(diff)
		}
	})
	for name, after := range map[string]int{"a reader resumes behind what it has": 2, "a reader that has everything gets the close": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, end := readSocket(t, dial(t.Context(), t, fmt.Sprintf("%s&compact=true&after=%d", own, after), bearer(e.reader)))
			if len(messages) != 4-after || end.Code != websocket.StatusNormalClosure {
				t.Fatalf("%d messages, closed with %v", len(messages), end)
			}
			if after == 2 && !cmp.Equal(messages[0], message{3, "apiMessageChunk", map[string]any{"chunk": map[string]any{"data": "two"}}}) {
				t.Errorf("resumed with %+v", messages[0])
			}
		})
	}
	t.Run("refusals are problems", func(t *testing.T) {
		t.Parallel()
		upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
		path := "/workspaces/default/websocket"
		e.do("GET", path+"?runId="+run, "", nil, upgrade...).refused(401, knowledge.CodeUnauthorized)
		e.do("GET", path+"?runId="+run+"&token=no", "", nil, upgrade...).refused(401, knowledge.CodeUnauthorized)
		e.do("GET", path+"?runId="+run, e.editor, nil, upgrade...).refused(403, knowledge.CodeForbidden)
		e.do("GET", "/workspaces/other/websocket?runId="+run, e.stranger, nil, upgrade...).refused(404, knowledge.CodeNotFound)
		e.do("GET", path, e.reader, nil, upgrade...).refused(422, knowledge.CodeInvalid)
		e.do("GET", path+"?after=x&runId="+run, e.reader, nil, upgrade...).refused(400, knowledge.CodeMalformed)
		e.do("GET", path+"?runId="+run, e.reader, nil).refused(400, knowledge.CodeMalformed)
	})
	t.Run("a token opens its run in its workspace alone", func(t *testing.T) {
		t.Parallel()
		u := strings.Replace(address, "/workspaces/default/", "/workspaces/other/", 1)
		if _, res, err := websocket.Dial(t.Context(), u, nil); err == nil || res.StatusCode != http.StatusNotFound {
			t.Errorf("%v: %v", res, err)
		}
	})
}

func TestWebSocketOfASession(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.failing("one ", "two")
	host := e.socketServer()
	run, withToken := e.askBySocket(host)
	address := "ws://" + host + own + "/websocket?runId=" + run
	held := "cairn_session=" + signIn(e, e.reader).Value
	other := "https://other.example"
	for name, c := range map[string]struct {
		address string
		header  http.Header
		want    int
	}{
		"a page of Cairn":                         {address, http.Header{"Origin": {"http://" + host}}, 101},
		"a page of Cairn by Sec-Fetch-Site":       {address, http.Header{"Sec-Fetch-Site": {"same-origin"}}, 101},
		"another page":                            {address, http.Header{"Origin": {other}}, 403},
		"another page by Sec-Fetch-Site":          {address, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {other}}, 403},
		"a sandboxed page":                        {address, http.Header{"Origin": {"null"}}, 403},
		"no page":                                 {address, http.Header{}, 403},
		"another page with a token":               {withToken, http.Header{"Origin": {other}}, 101},
		"another page with a wrong token":         {address + "&token=forged", http.Header{"Origin": {other}}, 403},
		"a program with a key beside the cookie":  {address, http.Header{"Authorization": {"Bearer " + e.reader}}, 101},
		"a program with a wrong key":              {address, http.Header{"Authorization": {"Bearer wrong"}, "Origin": {"http://" + host}}, 401},
		"a page of Cairn whose session has ended": {address, http.Header{"Cookie": {"cairn_session=ended"}, "Origin": {"http://" + host}}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.header.Get("Cookie") == "" {
				c.header.Set("Cookie", held)
			}
			conn, res, err := websocket.Dial(t.Context(), c.address, &websocket.DialOptions{HTTPHeader: c.header})
			if res == nil || res.StatusCode != c.want {
				t.Fatalf("%v: %v, want %d", res, err, c.want)
			}
			if err != nil {
				return
			}
			if messages, _ := readSocket(t, conn); len(messages) != 4 {
				t.Errorf("%d events, want 4", len(messages))
			}
		})
	}
}

// lines hands each line that is logged to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestASlowReaderOfAWebSocketComesBack(t *testing.T) {
	t.Parallel()
	logged := make(lines, 10)
	e := open(t, func(cfg *api.Config, d *api.Deps) {
		cfg.StreamPatience = 100 * time.Millisecond
		d.Log = slog.New(slog.NewTextHandler(logged, nil))
	})
	words := make([]string, 100)
	for i := range words {
		words[i] = strings.Repeat("x", 1<<10)
	}
	e.failing(words...)
	_, address := e.askBySocket(e.socketServer())
	conn := dial(t.Context(), t, address+"&compact=true", nil)
	if line := <-logged; !strings.Contains(line, "too slow") {
		t.Fatalf("logged: %s", line)
	}
	first, end := readSocket(t, conn)
	if end.Code != 4008 || !strings.HasSuffix(end.Reason, fmt.Sprintf("connect again with after=%d", len(first))) {
		t.Fatalf("closed with %v after %d events", end, len(first))
	}
	if len(first) == 0 || len(first) > 40 {
		t.Errorf("%d events were sent to a reader that does not read", len(first))
	}
	rest, end := readSocket(t, dial(t.Context(), t, fmt.Sprintf("%s&compact=true&after=%d", address, len(first)), nil))
	if len(first)+len(rest) != 102 || rest[0].ID != int64(len(first)+1) || end.Code != websocket.StatusNormalClosure {
		t.Errorf("%d and %d events, closed with %v", len(first), len(rest), end)
	}
}

func TestAStoppingServerClosesItsWebSockets(t *testing.T) {
	t.Parallel()
	streams := make(opened, 10)
	e := open(t, func(cfg *api.Config, d *api.Deps) { cfg.Streams, d.Metrics = 1, streams })
	e.add(e.editor, "a.txt", "one") // its turn does not come
	address := "ws://" + e.socketServer() + "/workspaces/default/websocket?runId=" + e.work.ingests[0].RunID
	header := http.Header{"Authorization": {"Bearer " + e.editor}}
	conn := dial(t.Context(), t, address, header)
	if n := <-streams; n != 1 {
		t.Fatalf("%d streams are open", n)
	}
	if _, res, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: header}); err == nil || res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a second stream: %v %v", res, err)
	}
	e.server.Stop()
	if _, end := readSocket(t, conn); end.Code != websocket.StatusServiceRestart || !strings.Contains(end.Reason, "after=0") {
		t.Errorf("closed with %v", end)
	}
}
