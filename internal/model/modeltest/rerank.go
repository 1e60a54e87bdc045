package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// ScriptReranks appends replies to the script for rerank requests, one for each
// request. Only the fields Status, Header, Body, Hang, Garbage, Empty and Delay apply.
func (s *Server) ScriptReranks(replies ...Reply) {
	s.update(func() { s.rerankScript = append(s.rerankScript, replies...) })
}

// serveRerank scores each text by the share of the query's words that it contains. It
// answers a request with texts in the shape of text-embeddings-inference, and one with
// documents in the shape of Cohere.
func (s *Server) serveRerank(w http.ResponseWriter, r *http.Request) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	var request struct {
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		Texts     []string `json:"texts"`
	}
	if json.Unmarshal(body, &request) != nil || request.Query == "" || len(request.Documents)+len(request.Texts) == 0 {
		protocol.WriteError(w, &protocol.Error{Status: http.StatusBadRequest, Message: "query, and documents or texts, are required"})
		return
	}
	var reply Reply
	s.update(func() {
		reply = nextReply(&s.rerankScript)
		s.totals.Reranks.Asked++
		s.totals.Reranked += len(request.Documents) + len(request.Texts)
	})
	if s.misbehave(w, r, reply) {
		return
	}
	var answer any
	if request.Texts != nil {
		answer = overlaps(request.Query, request.Texts, "score")
	} else {
		answer = map[string]any{"results": overlaps(request.Query, request.Documents, "relevance_score")}
	}
	w.Header().Set("Content-Type", "application/json")
	if json.NewEncoder(w).Encode(answer) == nil && http.NewResponseController(w).Flush() == nil {
		s.update(func() { s.totals.Reranks.Answered++ })
	}
}

func overlaps(query string, texts []string, name string) []map[string]any {
	words := strings.Fields(strings.ToLower(query))
	list := make([]map[string]any, 0, len(texts))
	for i, text := range texts {
		found := 0
		for _, word := range words {
			if strings.Contains(strings.ToLower(text), strings.Trim(word, "?.,!")) {
				found++
			}
		}
		list = append(list, map[string]any{"index": i, name: float64(found) / float64(max(1, len(words)))})
	}
	return list
}
