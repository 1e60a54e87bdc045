package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// Picture is a request for a picture.
type Picture struct {
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	Size   string `json:"size"`
	Key    string `json:"-"` // the header Idempotency-Key
}

// Painted is the picture that the server returns: the begin of a PNG.
const Painted = "\x89PNG\r\n\x1a\n"

// Pictures returns the requests for pictures, oldest first.
func (s *Server) Pictures() []Picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pictures)
}

func (s *Server) serveImage(w http.ResponseWriter, r *http.Request) {
	p := Picture{Key: r.Header.Get("Idempotency-Key")}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&p); err != nil || p.Model == "" || p.Prompt == "" {
		protocol.WriteError(w, &protocol.Error{Status: http.StatusBadRequest, Message: "model and prompt are required"})
		return
	}
	s.update(func() { s.pictures = append(s.pictures, p) })
	w.Header().Set("Content-Type", "application/json")
	// The client may have disconnected; nobody else needs the error.
	_ = json.NewEncoder(w).Encode(map[string]any{"created": 1, "data": []any{map[string]string{"b64_json": base64.StdEncoding.EncodeToString([]byte(Painted))}}})
}
