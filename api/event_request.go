package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// lastEventID reads where a reader wants to continue: after this event, 0 = all. In the
// profile ag-ui it may have a part of the event behind that: 12.2 = two parts of event 12.
func lastEventID(r *http.Request) (after int64, part int, err error) {
	value := r.Header.Get("Last-Event-ID")
	if value == "" {
		value = r.URL.Query().Get("after")
	}
	if value == "" {
		return 0, 0, nil
	}
	whole, rest, inside := strings.Cut(value, ".")
	after, err = strconv.ParseInt(whole, 10, 64)
	if err == nil && inside && wantsAGUI(r) {
		part, err = strconv.Atoi(rest)
		after--
		inside = false
	}
	if err != nil || after < 0 || part < 0 || inside {
		return 0, 0, knowledge.Errorf(knowledge.CodeMalformed, "Last-Event-ID (or after) must be the number of an event, 0 for all")
	}
	return after, part, nil
}

func wantsDelta(r *http.Request) bool {
	return r.URL.Query().Get("delta") != "off" && !strings.Contains(strings.ReplaceAll(r.Header.Get("Accept"), " ", ""), "delta=off")
}
