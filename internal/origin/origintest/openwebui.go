package origintest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// NewOpenWebUI starts an Open WebUI.
func NewOpenWebUI(o Options) *System {
	return newSystem(o, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusUnauthorized, object{"detail": "Your session has expired or the token is invalid. Please sign in again."})
	}, openWebUIRoutes)
}

func openWebUIRoutes(s *System, mux *http.ServeMux) {
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { // its page, for every other path
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html>")
	})
	mux.HandleFunc("GET /api/v1/knowledge/{$}", func(w http.ResponseWriter, r *http.Request) {
		list := []object{}
		for _, c := range s.options.Collections {
			list = append(list, object{"id": c.ID, "name": c.Name, "description": "", "user_id": "u"})
		}
		s.answerPage(w, r, list)
	})
	mux.HandleFunc("GET /api/v1/knowledge/{id}", func(w http.ResponseWriter, r *http.Request) {
		c := s.collection(r.PathValue("id"))
		body := object{"id": c.ID, "name": c.Name}
		if s.options.Old {
			body["files"] = s.openWebUIFiles(c)
		}
		answer(w, http.StatusOK, body)
	})
	if !s.options.Old {
		mux.HandleFunc("GET /api/v1/knowledge/{id}/files", func(w http.ResponseWriter, r *http.Request) {
			c := s.collection(r.PathValue("id"))
			if c.broken(r.URL.Query().Get("page")) {
				answer(w, http.StatusBadRequest, object{"detail": "Something went wrong"})
				return
			}
			s.answerPage(w, r, s.openWebUIFiles(c))
		})
	}
	mux.HandleFunc("GET /api/v1/files/{id}/content", func(w http.ResponseWriter, r *http.Request) {
		f := s.file(r.PathValue("id"))
		if f == nil || f.Gone {
			answer(w, http.StatusNotFound, object{"detail": "We could not find what you're looking for :/"})
			return
		}
		s.download(w, r, f)
	})
	mux.HandleFunc("GET /api/v1/files/{id}/data/content", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, object{"content": strings.Join(s.file(r.PathValue("id")).Parts, "\n")})
	})
	mux.HandleFunc("GET /api/v1/chats/all", func(w http.ResponseWriter, _ *http.Request) {
		if s.options.Old {
			answer(w, http.StatusOK, s.chats())
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, chat := range s.chats() {
			_ = json.NewEncoder(w).Encode(chat) // a client that is gone fails the test
		}
	})
	mux.HandleFunc("GET /api/v1/chats/all/archived", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, []object{}) })
}

func (s *System) answerPage(w http.ResponseWriter, r *http.Request, list []object) {
	if s.options.Old {
		answer(w, http.StatusOK, list)
		return
	}
	answer(w, http.StatusOK, object{"items": page(list, r.URL.Query().Get("page"), s.options.PageSize), "total": len(list)})
}

func (s *System) openWebUIFiles(c *Collection) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []object{}
	for _, f := range c.Files {
		list = append(list, object{"id": f.ID, "filename": f.Name, "hash": fmt.Sprintf("hash %d", f.Version), "updated_at": 1700000000 + f.Version, "meta": object{"name": f.Name, "content_type": "text/plain", "size": len(f.Text)}})
	}
	return list
}

// chats returns the talks as they are exported: each text follows the one before it.
func (s *System) chats() []object {
	list := []object{}
	for _, t := range s.options.Talks {
		messages, last := object{}, ""
		for i, text := range t.Texts {
			id := fmt.Sprint(t.ID, "-", i)
			m := object{"id": id, "parentId": last, "role": []string{"user", "assistant"}[i%2], "content": text, "timestamp": 1700000000 + i}
			if i%2 == 1 {
				var sources []object
				for _, name := range t.Sources {
					sources = append(sources, object{"source": object{"name": name}})
				}
				m["sources"] = sources
			}
			messages[id], last = m, id
		}
		list = append(list, object{"id": t.ID, "user_id": t.User, "title": t.Title, "created_at": 1700000000, "updated_at": 1700000100,
			"chat": object{"title": t.Title, "history": object{"currentId": last, "messages": messages}}})
	}
	return list
}
