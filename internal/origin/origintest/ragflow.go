package origintest

import (
	"net/http"
	"strconv"
)

// NewRAGFlow starts a RAGFlow. Its failures have the status 200, and a code in the body.
func NewRAGFlow(o Options) *System {
	return newSystem(o, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"code": 109, "data": false, "message": "Authentication error: API key is invalid!"})
	}, ragflowRoutes)
}

func ragflowRoutes(s *System, mux *http.ServeMux) {
	list := func(w http.ResponseWriter, r *http.Request, items []object, wrap string) {
		shown := page(items, r.URL.Query().Get("page"), s.options.PageSize)
		if wrap == "" {
			answer(w, http.StatusOK, object{"code": 0, "data": shown})
			return
		}
		answer(w, http.StatusOK, object{"code": 0, "data": object{wrap: shown, "total": len(items)}})
	}
	mux.HandleFunc("GET /api/v1/datasets", func(w http.ResponseWriter, r *http.Request) {
		items := []object{}
		for _, c := range s.options.Collections {
			items = append(items, object{"id": c.ID, "name": c.Name, "document_count": len(c.Files)})
		}
		list(w, r, items, "")
	})
	mux.HandleFunc("GET /api/v1/datasets/{set}/documents", func(w http.ResponseWriter, r *http.Request) {
		c := s.collection(r.PathValue("set"))
		if c.broken(r.URL.Query().Get("page")) {
			answer(w, http.StatusOK, object{"code": 100, "data": nil, "message": "database is locked"})
			return
		}
		list(w, r, s.ragflowDocuments(c), "docs")
	})
	mux.HandleFunc("GET /api/v1/datasets/{set}/documents/{id}", func(w http.ResponseWriter, r *http.Request) {
		f := s.file(r.PathValue("id"))
		if f == nil || f.Gone {
			answer(w, http.StatusOK, object{"code": 102, "message": "This file is empty."})
			return
		}
		s.download(w, r, f)
	})
	mux.HandleFunc("GET /api/v1/datasets/{set}/documents/{id}/chunks", func(w http.ResponseWriter, r *http.Request) {
		items := []object{}
		for i, part := range s.file(r.PathValue("id")).Parts {
			items = append(items, object{"id": strconv.Itoa(i), "content": part})
		}
		list(w, r, items, "chunks")
	})
	mux.HandleFunc("GET /api/v1/chats", func(w http.ResponseWriter, r *http.Request) {
		list(w, r, []object{{"id": "assistant", "name": "Helper"}}, "")
	})
	mux.HandleFunc("GET /api/v1/chats/assistant/sessions", func(w http.ResponseWriter, r *http.Request) {
		items := []object{}
		for _, t := range s.options.Talks {
			session := ragflowSession(t)
			if !s.options.Old {
				delete(session, "messages")
			}
			items = append(items, session)
		}
		list(w, r, items, "")
	})
	mux.HandleFunc("GET /api/v1/chats/assistant/sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		for _, t := range s.options.Talks {
			if t.ID == r.PathValue("id") {
				answer(w, http.StatusOK, object{"code": 0, "data": ragflowSession(t)})
			}
		}
	})
}

func (s *System) ragflowDocuments(c *Collection) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []object{}
	for _, f := range c.Files {
		items = append(items, object{"id": f.ID, "name": f.Name, "size": len(f.Text), "create_time": 1700000000000, "meta_fields": f.Metadata, "run": "DONE"})
	}
	return items
}

func ragflowSession(t Talk) object {
	messages := []object{{"role": "assistant", "content": "Hi! I'm your assistant."}}
	for i, text := range t.Texts {
		m := object{"role": []string{"user", "assistant"}[i%2], "content": text}
		if i%2 == 1 {
			m["content"] = text + " [ID:0]"
			var chunks []object
			for _, name := range t.Sources {
				chunks = append(chunks, object{"document_name": name, "content": "a passage"})
			}
			m["reference"] = chunks
		}
		messages = append(messages, m)
	}
	return object{"id": t.ID, "name": t.Title, "user_id": t.User, "chat_id": "assistant", "create_time": 1700000000000, "messages": messages}
}
