package sse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

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
	events, err := readAll(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func readAll(r io.Reader) ([]sse.Event, error) {
	var events []sse.Event
	for e, err := range sse.Read(r) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func TestPieces(t *testing.T) {
	t.Parallel()
	var (
		on    = sse.Options{Delta: true, RunID: "run"}
		plain = []byte(`"` + strings.Repeat("ä€😀", 6000) + `"`)
	)
	for name, data := range map[string][]byte{
		"characters of several bytes":       plain,
		"quotation marks, which double":     []byte(strings.Repeat(`"<a href=\"x\">"`, 4000)),
		"characters that JSON escapes long": []byte(strings.Repeat("\u2028\x01", 10_000)),
		"one byte more than an event has":   []byte(strings.Repeat("x", 16<<10+1)),
	} {
		t.Run(name+" come back from pieces that are small", func(t *testing.T) {
			t.Parallel()
			event := sse.Event{ID: "7", Name: "tool_end", Data: data}
			text := written(t, on, event)
			for _, line := range strings.Split(text, "\n") {
				if data, ok := strings.CutPrefix(line, "data: "); ok && (len(data) > 16<<10 || !json.Valid([]byte(data))) {
					t.Errorf("a piece has %d bytes", len(data))
				}
			}
			if n := strings.Count(text, "\nid: 7\n"); n != 1 || strings.Count(text, "event: _delta_sse\n") < 2 {
				t.Errorf("%d pieces, %d ids", strings.Count(text, "event: _delta_sse\n"), n)
			}
			if again := written(t, on, event); again != text {
				t.Error("a replay is cut differently")
			}
			got := read(t, text)
			if len(got) != 1 || got[0].ID != "7" || got[0].Name != "tool_end" || !bytes.Equal(got[0].Data, data) {
				t.Errorf("read back %d events", len(got))
			}
		})
	}

	t.Run("16 KiB are sent whole, and with delta off everything is", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{
			written(t, on, sse.Event{ID: "1", Name: "e", Data: []byte(strings.Repeat("x", 16<<10))}),
			written(t, sse.Options{}, sse.Event{ID: "1", Name: "e", Data: plain}),
		} {
			if strings.Contains(text, "_delta_sse") {
				t.Error("it was cut")
			}
		}
	})

	t.Run("pieces that come again replace themselves", func(t *testing.T) {
		t.Parallel()
		text := written(t, on, sse.Event{ID: "1", Name: "e", Data: plain})
		cut := strings.Index(text, "\n\n") + 2
		if got := read(t, text[:cut]+text); len(got) != 1 || !bytes.Equal(got[0].Data, plain) {
			t.Errorf("read back %d events", len(got))
		}
	})

	t.Run("pieces that do not come are an error and never a shorter event", func(t *testing.T) {
		t.Parallel()
		text := written(t, on, sse.Event{ID: "1", Name: "e", Data: plain})
		cut := strings.Index(text, "\n\n") + 2
		if got, err := readAll(strings.NewReader(text[cut:])); err == nil || len(got) != 0 {
			t.Errorf("gave %d events and %v", len(got), err)
		}
	})
}

func TestRead(t *testing.T) {
	t.Parallel()
	message := func(id, data string) sse.Event { return sse.Event{ID: id, Name: "message", Data: []byte(data)} }
	for name, c := range map[string]struct {
		text string
		want []sse.Event
	}{
		"a byte order mark and every kind of line end": {"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\rdata: c\n\n", []sse.Event{message("", "a"), message("", "b"), message("", "c")}},
		"comments and unknown fields are passed over":  {": hello\nfoo: bar\nretry: 1\ndata: a\n\n", []sse.Event{message("", "a")}},
		"data of several lines":                        {"data: a\ndata:\ndata:  b\n\n", []sse.Event{message("", "a\n\n b")}},
		"a field without a colon":                      {"data\n\n", []sse.Event{message("", "")}},
		"an id holds until the next":                   {"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []sse.Event{message("1", "a"), message("1", "b"), message("", "c")}},
		"an id with a NUL is none":                     {"id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", []sse.Event{message("1", "a"), message("1", "b")}},
		"an event without its empty line is dropped":   {"data: a\n\ndata: b\n", []sse.Event{message("", "a")}},
		"an event without data is none":                {"event: a\n\ndata: b\n\n", []sse.Event{message("", "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got, err := readAll(r)
				if err != nil || len(got) != len(c.want) {
					t.Fatalf("read %d events, want %d: %v", len(got), len(c.want), err)
				}
				for i := range got {
					if got[i].ID != c.want[i].ID || got[i].Name != c.want[i].Name || !bytes.Equal(got[i].Data, c.want[i].Data) {
						t.Errorf("event %d is %+v, want %+v", i, got[i], c.want[i])
					}
				}
			}
		})
	}

	t.Run("an event is given as soon as its empty line is there", func(t *testing.T) {
		t.Parallel()
		for _, end := range []string{"\n", "\r", "\r\n"} {
			r, w := io.Pipe()
			go func() {
				_, _ = io.WriteString(w, "data: a"+end+end) // the reader gives up below
			}()
			for e, err := range sse.Read(r) {
				if err != nil || string(e.Data) != "a" {
					t.Errorf("%q gave %+v and %v", end, e, err)
				}
				break
			}
			_ = r.Close()
		}
	})

	t.Run("a connection that breaks gives its error and no half event", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("broken")
		got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
		if len(got) != 1 || !errors.Is(err, broken) {
			t.Errorf("%d events and %v", len(got), err)
		}
	})

	t.Run("an event without an end is an error", func(t *testing.T) {
		t.Parallel()
		for name, line := range map[string]string{"one line": strings.Repeat("x", 4096), "many lines": strings.Repeat("data: x\n", 500)} {
			if _, err := readAll(io.MultiReader(strings.NewReader("data: "), &endless{text: line})); err == nil {
				t.Errorf("%s gave no error", name)
			}
		}
	})
}

// endless gives a text over and over.
type endless struct{ text string }

func (e *endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

// FuzzFraming writes any text and reads it back, with our reader and with
// another's.
func FuzzFraming(f *testing.F) {
	f.Add("delta", `{"text":"hello"}`)
	f.Add("a b", "one\ntwo\r\nthree\r")
	f.Add("e", strings.Repeat("€", 9000))
	f.Add("e", strings.Repeat("\"\u2028\r\n", 9000))
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
		for e, err := range gosse.Read(strings.NewReader(written(t, sse.Options{}, sse.Event{ID: "3", Name: name, Data: []byte(data)})), &gosse.ReadConfig{MaxEventSize: 4 << 20}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Data != clean || e.Type != name || e.LastEventID != "3" {
				t.Fatalf("another reader gives %+v", e)
			}
		}
	})
}

// FuzzRead gives the reader any bytes: however they arrive, it gives the same
// events and comes to an end.
func FuzzRead(f *testing.F) {
	f.Add("id: 1\ndata: a\r\n\r\ndata\rdata: b\r\r")
	f.Add("event: _delta_sse\ndata: {\"event\":\"e\",\"delta_id\":\"d\",\"index\":0,\"total\":2,\"content\":\"\"}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, wholeErr := readAll(strings.NewReader(text))
		bytewise, bytewiseErr := readAll(iotest.OneByteReader(strings.NewReader(text)))
		if len(whole) != len(bytewise) || (wholeErr == nil) != (bytewiseErr == nil) {
			t.Fatalf("%d events and %v, then %d and %v", len(whole), wholeErr, len(bytewise), bytewiseErr)
		}
		for i := range whole {
			if whole[i].ID != bytewise[i].ID || whole[i].Name != bytewise[i].Name || !bytes.Equal(whole[i].Data, bytewise[i].Data) {
				t.Fatalf("event %d is %+v, then %+v", i, whole[i], bytewise[i])
			}
		}
	})
}
