package encoder

import (
	"net/http"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// Handler serves the model under a name in the OpenAI protocol: /v1/embeddings and /v1/models. Texts
// are embedded as they are: the caller writes "query: " or "passage: " before them. It requires no key.
func (m *Model) Handler(name string) http.Handler {
	return protocol.NewMux(refuseChat, func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, name) }, func(w http.ResponseWriter, _ *http.Request) {
		// The client may have disconnected; nobody else needs the error.
		_ = protocol.WriteModels(w, name)
	})
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request, name string) {
	body, err := protocol.ReadBody(w, r)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	req, err := protocol.ParseEmbeddings(body, m.Dimensions())
	if err == nil && req.Model != name {
		err = protocol.UnknownModel(req.Model)
	}
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	vectors, err := m.Embed(r.Context(), req.Input)
	if err != nil {
		protocol.WriteError(w, err)
		return
	}
	if n := req.Dimensions; n > 0 {
		for i, v := range vectors {
			vectors[i] = v[:n]
			normalize(vectors[i])
		}
	}
	// The client may have disconnected; nobody else needs the error.
	_ = protocol.WriteEmbeddings(w, req, vectors)
}

func refuseChat(w http.ResponseWriter, _ *http.Request) {
	protocol.WriteError(w, &protocol.Error{Status: http.StatusNotFound, Message: "this model embeds texts and answers no questions"})
}
