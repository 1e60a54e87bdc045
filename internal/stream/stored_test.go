package stream_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/stream"
)

const run = "default/runs/a67cc03a-37db-4dc9-b521-d05917018cc5"

func TestStoredLog(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		items []stream.Item
		bytes int // at most that many; 0 = any number
	}{
		"of_an_ingest":              {items(t, 17, ingestEvents()...), 180},
		"of_a_removal":              {items(t, 3, event{stream.TopicEnded, stream.Event{Data: json.RawMessage(`{"status":"completed"}`)}}), 30},
		"of_an_answer":              {items(t, 0, answerEvents(t, 1000)...), 20_000},
		"without_items":             {nil, 12},
		"with_markup_and_lines":     {items(t, 0, event{stream.TopicDelta, stream.Event{Text: "<b>\n\u2028\"ä\x00 &amp;"}}), 0},
		"with_a_gap":                {append(items(t, 0, answerEvents(t, 2)...), items(t, 40, answerEvents(t, 2)...)...), 0},
		"of_another_client":         {[]stream.Item{{Topic: "delta", Data: base64.StdEncoding.EncodeToString([]byte("\x12\x09{ \n}"))}}, 0},
		"with_data_that_is_no_JSON": {[]stream.Item{{Topic: "delta", Data: "!", Offset: 4}}, 0},
		"with_a_topic_of_two_words": {[]stream.Item{{Topic: "two words", Data: items(t, 0, answerEvents(t, 1)...)[0].Data}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := json.Marshal(stream.StoredLog{Items: test.items})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := json.Marshal(map[string]any{"items": test.items})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes, %d before", len(stored), len(plain))
			if test.bytes > 0 && len(stored) > test.bytes {
				t.Errorf("it takes %d bytes, want at most %d", len(stored), test.bytes)
			}
			for _, data := range [][]byte{stored, plain} { // plain is the log as an older version wrote it
				var read stream.StoredLog
				if err := json.Unmarshal(data, &read); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.items, read.Items); diff != "" {
					t.Errorf("the items differ (-stored +read):\n%s", diff)
				}
			}
		})
	}
}

// TestStoredLogOfTheFirstVersion fails if the dictionary changes: nobody could read the
// logs that were stored with it.
func TestStoredLogOfTheFirstVersion(t *testing.T) {
	t.Parallel()
	const stored = `{"packed":"MjQnIhKMqJLijaiT4o2okuKNqJLijUhK8YZGpBpKVJIHG0t2mgcEAAD//w=="}`
	var log stream.StoredLog
	if err := json.Unmarshal([]byte(stored), &log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(items(t, 17, ingestEvents()...), log.Items); diff != "" {
		t.Errorf("the items differ (-want +got):\n%s", diff)
	}
}

func TestStoredLogThatIsDamaged(t *testing.T) {
	t.Parallel()
	var log stream.StoredLog
	if err := json.Unmarshal([]byte(`{"packed":"AAAA"}`), &log); err == nil {
		t.Errorf("it was read as %v", log.Items)
	}
}

// TestStoredLogIsResumed reads the log of an answer from each of its ids, while it runs and
// after it was stored.
func TestStoredLogIsResumed(t *testing.T) {
	t.Parallel()
	log := items(t, 0, answerEvents(t, 30)...)
	stored, err := json.Marshal(stream.StoredLog{Items: log})
	if err != nil {
		t.Fatal(err)
	}
	var read stream.StoredLog
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	for from := range len(log) + 1 {
		for name, src := range map[string]*source{"running": {items: log}, "stored": {items: read.Items, stored: true}} {
			relay := stream.NewRelay(src, stream.NewHub())
			if src.stored || from < len(log) { // nothing comes after the end of one that runs
				var got []stream.Item
				for item, err := range relay.Items(t.Context(), stream.RunRef{Workspace: "w", Run: "r"}, int64(from)) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, item)
				}
				if diff := cmp.Diff(log[from:], got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, from %d (-want +got):\n%s", name, from, diff)
				}
			}
		}
	}
}

// FuzzStoredLog stores items as any client of the protocol can publish them.
func FuzzStoredLog(f *testing.F) {
	for _, item := range items(f, 3, ingestEvents()...) {
		f.Add(item.Topic, item.Data, item.Offset, item.Data, int64(1))
	}
	f.Add("delta", "ChYKCGVuY29kaW5nEgpqc29uL3BsYWlu", int64(0), "ChYKCGVuY29kaW5nEgpqc29uL3BsYWluEgB=", int64(1))
	f.Add("", "ChYKCGVuY29kaW5nEgpqc29uL3BsYWluEgA=", int64(-1), "ChYKCGVuY29kaW5nEgpqc29uL3BsYWlu\nEgA=", int64(0))
	f.Fuzz(func(t *testing.T, topic, data string, offset int64, second string, step int64) {
		if !utf8.ValidString(topic + data + second) {
			t.Skip("it is no JSON")
		}
		want := []stream.Item{{Topic: topic, Data: data, Offset: offset}, {Topic: topic, Data: second, Offset: offset + step}}
		stored, err := json.Marshal(stream.StoredLog{Items: want})
		if err != nil {
			t.Fatal(err)
		}
		var read stream.StoredLog
		if err := json.Unmarshal(stored, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read.Items); diff != "" {
			t.Errorf("the items differ (-stored +read):\n%s", diff)
		}
	})
}

func BenchmarkStoredLog(b *testing.B) {
	for name, events := range map[string][]event{"ingest": ingestEvents(), "answer": answerEvents(b, 1000)} {
		log := stream.StoredLog{Items: items(b, 0, events...)}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := json.Marshal(log); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type event struct {
	topic string
	stream.Event
}

func items(t testing.TB, first int64, events ...event) []stream.Item {
	t.Helper()
	var list []stream.Item
	for i, e := range events {
		entry, err := stream.NewEntry(e.topic, e.Event)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: first + int64(i)})
	}
	return list
}

func ingestEvents() []event {
	var events []event
	for _, data := range []string{
		`{"version":2,"stage":"check","progress":0.05}`, `{"version":2,"stage":"extract","progress":0.1}`,
		`{"version":2,"stage":"enrich","progress":0.3}`, `{"version":2,"stage":"chunk","progress":0.35}`,
		`{"version":2,"stage":"embed","progress":0.4,"chunkCount":12}`, `{"version":2,"stage":"publish","progress":0.9,"chunkCount":12}`,
	} {
		events = append(events, event{stream.TopicDocument, stream.Event{Data: json.RawMessage(data)}})
	}
	return append(events, event{stream.TopicEnded, stream.Event{Data: json.RawMessage(`{"published":true,"status":"completed"}`)}})
}

// answerEvents returns the events of an answer that came in a number of parts of a word
// each.
func answerEvents(t testing.TB, parts int) []event {
	t.Helper()
	const seed = 1
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	events := []event{{stream.TopicStarted, stream.Event{Data: json.RawMessage(`{"messageId":"bfd1a09b-250e-514b-be12-b8ef29e6f8c9","conversationId":"2abcd34d-bdbf-54d8-b1eb-c8e99264df3f"}`)}}}
	for range parts {
		word := fmt.Sprintf(" %s%d", strings.Repeat("w", 1+random.IntN(5)), random.IntN(3000))
		events = append(events, event{stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: word}})
	}
	return append(events,
		event{stream.TopicSources, stream.Event{Ref: run + "/answer.json"}},
		event{stream.TopicCompleted, stream.Event{Ref: run + "/answer.json"}})
}
