package api

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/agui"
	"github.com/cairn-rag/cairn/internal/sse"
)

// aguiProfile names the rendering of a run as events of AG-UI.
const aguiProfile = "ag-ui"

// wantsAGUI reports whether a request asks for events of AG-UI, by its Accept header or,
// as a browser's EventSource cannot send one, by ?profile=.
func wantsAGUI(r *http.Request) bool {
	if r.URL.Query().Get("profile") == aguiProfile {
		return true
	}
	for _, value := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(value, ",") {
			kind, parameters, err := mime.ParseMediaType(accepted)
			if err == nil && kind == "text/event-stream" && parameters["profile"] == aguiProfile {
				return true
			}
		}
	}
	return false
}

// aguiStream is the eventSink that sends each event of a run as events of AG-UI. It is
// given every event from the first on, because later ones depend on earlier ones, and
// leaves out those that the reader has.
type aguiStream struct {
	writer     *sse.Writer
	translator *agui.Translator
	after      int64
	part       int
}

func newAGUIStream(w *sse.Writer, in *reading) *aguiStream {
	return &aguiStream{writer: w, translator: agui.New(in.run.ID), after: in.after, part: in.part}
}

// Event implements eventSink. The parts of event 12 have the ids 12.1, 12.2, …, and the
// last of them 12.
func (a *aguiStream) Event(id int64, name string, data []byte) error {
	events, err := a.translator.Events(name, data)
	if err != nil {
		return fmt.Errorf("show event %d in the profile %s: %w", id, aguiProfile, err)
	}
	var messages []sse.Message
	for i, e := range events {
		if id <= a.after || id == a.after+1 && i < a.part {
			continue
		}
		encoded, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event %d: %w", id, err)
		}
		mark := strconv.FormatInt(id, 10)
		if i < len(events)-1 {
			mark += "." + strconv.Itoa(i+1)
		}
		messages = append(messages, sse.Message{ID: mark, Data: encoded})
	}
	if len(messages) == 0 {
		return nil
	}
	return a.writer.Messages(messages...)
}

// Alive implements eventSink.
func (a *aguiStream) Alive() error { return a.writer.Comment("still here") }
