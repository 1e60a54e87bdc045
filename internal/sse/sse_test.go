package sse_test

import (
	"bytes"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	gosse "github.com/tmaxmax/go-sse"

	"github.com/cairn-rag/cairn/internal/sse"
)

func written(t testing.TB, o sse.Options, events ...sse.Event) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	w := sse.NewWriter(recorder, o)
	for _, e := range events {
		id, err := strconv.ParseInt(e.ID, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Event(id, e.Name, e.Data); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Body.String()
}

func read(t testing.TB, text string) []sse.Event {
	t.Helper()
	var events []sse.Event
	for e, err := range sse.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func TestWriter(t *testing.T) {
	t.Parallel()

	t.Run("retry comes with the first event only", func(t *testing.T) {
		t.Parallel()
		got := written(t, sse.Options{}, sse.Event{ID: "1", Name: "a", Data: []byte(`{}`)}, sse.Event{ID: "2", Name: "b", Data: []byte(`{}`)})
		const want = "retry: 2000\nid: 1\nevent: a\ndata: {}\n\nid: 2\nevent: b\ndata: {}\n\n"
		if got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
	})

	t.Run("a large event comes in pieces whose last one has the id", func(t *testing.T) {
		t.Parallel()
		data := []byte(`"` + strings.Repeat("ä€😀", 3000) + `"`)
		event := sse.Event{ID: "7", Name: "tool_end", Data: data}
		text := written(t, sse.Options{Delta: true, RunID: "run"}, event)
		if strings.Count(text, "event: _delta_sse\n") != 3 || strings.Count(text, "\nid: 7\n") != 1 {
			t.Errorf("%d pieces, %d ids", strings.Count(text, "event: _delta_sse\n"), strings.Count(text, "\nid: 7\n"))
		}
		if again := written(t, sse.Options{Delta: true, RunID: "run"}, event); again != text {
			t.Error("a replay is cut differently")
		}
		got := read(t, text)
		if len(got) != 1 || got[0].ID != "7" || got[0].Name != "tool_end" || !bytes.Equal(got[0].Data, data) {
			t.Errorf("read back %d events", len(got))
		}
	})

	t.Run("pieces that come again replace themselves", func(t *testing.T) {
		t.Parallel()
		data := []byte(strings.Repeat("x", 40_000))
		text := written(t, sse.Options{Delta: true, RunID: "run"}, sse.Event{ID: "1", Name: "e", Data: data})
		cut := strings.Index(text[100:], "\n\n") + 102
		if got := read(t, text[:cut]+text); len(got) != 1 || !bytes.Equal(got[0].Data, data) {
			t.Errorf("read back %d events", len(got))
		}
	})

	t.Run("delta off sends it whole", func(t *testing.T) {
		t.Parallel()
		text := written(t, sse.Options{}, sse.Event{ID: "1", Name: "e", Data: []byte(strings.Repeat("x", 40_000))})
		if strings.Contains(text, "_delta_sse") {
			t.Error("it was cut")
		}
	})
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []sse.Event
	}{
		"a byte order mark and every kind of line end": {"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\rdata: c\n\n",
			[]sse.Event{{Name: "message", Data: []byte("a")}, {Name: "message", Data: []byte("b")}, {Name: "message", Data: []byte("c")}}},
		"comments and unknown fields are passed over": {": hello\nfoo: bar\ndata: a\n\n", []sse.Event{{Name: "message", Data: []byte("a")}}},
		"data of several lines":                       {"data: a\ndata:\ndata:  b\n\n", []sse.Event{{Name: "message", Data: []byte("a\n\n b")}}},
		"an id holds until the next":                  {"id: 1\ndata: a\n\ndata: b\n\n", []sse.Event{{ID: "1", Name: "message", Data: []byte("a")}, {ID: "1", Name: "message", Data: []byte("b")}}},
		"an event without its empty line is dropped":  {"data: a\n\ndata: b\n", []sse.Event{{Name: "message", Data: []byte("a")}}},
		"an event without data is none":               {"event: a\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, c.text)
			if len(got) != len(c.want) {
				t.Fatalf("read %d events, want %d", len(got), len(c.want))
			}
			for i := range got {
				if got[i].ID != c.want[i].ID || got[i].Name != c.want[i].Name || !bytes.Equal(got[i].Data, c.want[i].Data) {
					t.Errorf("event %d is %+v, want %+v", i, got[i], c.want[i])
				}
			}
		})
	}
}

// FuzzFraming writes any text and reads it back, with our reader and with
// another's.
func FuzzFraming(f *testing.F) {
	f.Add("delta", `{"text":"hello"}`)
	f.Add("a b", "one\ntwo\r\nthree\r")
	f.Add("e", strings.Repeat("€", 9000))
	f.Fuzz(func(t *testing.T, name, data string) {
		clean := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(data, "?"))
		name = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(name, "?"))
		if name == "" || name == "_delta_sse" || strings.HasPrefix(name, " ") {
			t.Skip("not a name of ours")
		}
		data = strings.ToValidUTF8(data, "?")
		got := read(t, written(t, sse.Options{Delta: true, RunID: "r"}, sse.Event{ID: "3", Name: name, Data: []byte(data)}))
		whole := clean
		if len(data) > 16<<10 {
			whole = data // pieces are JSON: their line ends are kept
		}
		if len(got) != 1 || got[0].Name != name || string(got[0].Data) != whole || got[0].ID != "3" {
			t.Fatalf("read back %+v", got)
		}
		for e, err := range gosse.Read(strings.NewReader(written(t, sse.Options{}, sse.Event{ID: "3", Name: name, Data: []byte(data)})), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Data != clean || e.Type != name || e.LastEventID != "3" {
				t.Fatalf("another reader gives %+v", e)
			}
		}
	})
}
