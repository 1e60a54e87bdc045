package origintest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// NewDify starts a Dify.
func NewDify(o Options) *System {
	return newSystem(o, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusUnauthorized, object{"code": "unauthorized", "message": "Access token is invalid", "status": 401})
	}, difyRoutes)
}

func difyRoutes(s *System, mux *http.ServeMux) {
	missing := func(w http.ResponseWriter) {
		answer(w, http.StatusNotFound, object{"code": "not_found", "message": "Not found.", "status": 404})
	}
	mux.HandleFunc("GET /v1/datasets", func(w http.ResponseWriter, r *http.Request) {
		list := []object{}
		for _, c := range s.options.Collections {
			tags := []object{}
			for i, tag := range c.Tags {
				tags = append(tags, object{"id": strconv.Itoa(i), "name": tag, "type": "knowledge"})
			}
			list = append(list, object{"id": c.ID, "name": c.Name, "permission": "only_me", "tags": tags})
		}
		s.answerMore(w, r, list)
	})
	mux.HandleFunc("GET /v1/datasets/{set}/documents", func(w http.ResponseWriter, r *http.Request) {
		c := s.collection(r.PathValue("set"))
		if c.broken(r.URL.Query().Get("page")) {
			answer(w, http.StatusBadRequest, object{"code": "bad_request", "status": 400})
			return
		}
		s.answerMore(w, r, s.difyDocuments(c))
	})
	address := func(w http.ResponseWriter, r *http.Request) {
		f := s.file(r.PathValue("id"))
		if f == nil || f.Gone {
			missing(w)
			return
		}
		answer(w, http.StatusOK, object{"id": "upload-" + f.ID, "name": f.Name, "url": "/files/" + f.ID + "/file-preview?sign=s", "download_url": "/files/" + f.ID + "/file-preview?sign=s&as_attachment=true"})
	}
	if s.options.Old {
		mux.HandleFunc("GET /v1/datasets/{set}/documents/{id}/upload-file", address)
	} else {
		mux.HandleFunc("GET /v1/datasets/{set}/documents/{id}/download", address)
	}
	mux.HandleFunc("GET /files/{id}/file-preview", func(w http.ResponseWriter, r *http.Request) {
		s.download(w, r, s.file(r.PathValue("id")))
	})
	mux.HandleFunc("GET /v1/datasets/{set}/documents/{id}/segments", func(w http.ResponseWriter, r *http.Request) {
		list := []object{}
		for i, part := range s.file(r.PathValue("id")).Parts {
			list = append(list, object{"id": strconv.Itoa(i), "position": i + 1, "content": part})
		}
		s.answerMore(w, r, list)
	})
	mux.HandleFunc("GET /v1/conversations", s.difyConversations)
	mux.HandleFunc("GET /v1/messages", s.difyMessages)
}

func (s *System) answerMore(w http.ResponseWriter, r *http.Request, list []object) {
	number := r.URL.Query().Get("page")
	shown := page(list, number, s.options.PageSize)
	n, err := strconv.Atoi(number)
	answer(w, http.StatusOK, object{"data": shown, "total": len(list), "limit": s.options.PageSize, "page": n, "has_more": err == nil && n*s.options.PageSize < len(list)})
}

func (s *System) difyDocuments(c *Collection) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []object{}
	for i, f := range c.Files {
		metadata := []object{{"id": "built-in", "name": "uploader", "type": "string", "value": "somebody"}}
		for name, value := range f.Metadata {
			metadata = append(metadata, object{"id": name, "name": name, "type": "string", "value": value})
		}
		list = append(list, object{"id": f.ID, "position": i + 1, "name": f.Name, "data_source_type": "upload_file", "created_at": 1700000000,
			"data_source_info": object{"upload_file_id": fmt.Sprintf("upload-%s-%d", f.ID, f.Version)}, "word_count": len(f.Text), "doc_metadata": metadata, "indexing_status": "completed"})
	}
	return list
}

func (s *System) difyConversations(w http.ResponseWriter, r *http.Request) {
	list := []object{}
	for _, t := range s.options.Talks {
		if t.User == r.URL.Query().Get("user") {
			list = append(list, object{"id": t.ID, "name": t.Title, "status": "normal", "created_at": 1700000000, "updated_at": 1700000100})
		}
	}
	from := 1 + slices.IndexFunc(list, func(o object) bool { return o["id"] == r.URL.Query().Get("last_id") })
	to := min(len(list), from+s.options.PageSize)
	answer(w, http.StatusOK, object{"data": list[from:to], "limit": s.options.PageSize, "has_more": to < len(list)})
}

// difyMessages answers with the newest turns at first, each page in the order of time.
func (s *System) difyMessages(w http.ResponseWriter, r *http.Request) {
	var turns []object
	for _, t := range s.options.Talks {
		if t.ID != r.URL.Query().Get("conversation_id") || t.User != r.URL.Query().Get("user") {
			continue
		}
		for i := 0; i+1 < len(t.Texts); i += 2 {
			resources := []object{}
			for _, name := range t.Sources {
				resources = append(resources, object{"document_name": name})
			}
			turns = append(turns, object{"id": fmt.Sprint(t.ID, "-", i), "conversation_id": t.ID, "query": t.Texts[i], "answer": t.Texts[i+1], "created_at": 1700000000 + i, "retriever_resources": resources})
		}
	}
	to := len(turns)
	if first := r.URL.Query().Get("first_id"); first != "" {
		to = slices.IndexFunc(turns, func(o object) bool { return o["id"] == first })
	}
	from := max(0, to-s.options.PageSize)
	answer(w, http.StatusOK, object{"data": turns[from:to], "limit": s.options.PageSize, "has_more": from > 0})
}
