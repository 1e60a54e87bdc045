package localmodel_test

import (
	"net/http/httptest"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	modeltest.RunContract(t, func(t *testing.T) modeltest.Clients {
		chat, embedding := serve(t, localmodel.Config{})
		return modeltest.Clients{Chat: chat, Embedding: embedding}
	})
}

// serve starts a model and returns clients for it.
func serve(t testing.TB, cfg localmodel.Config) (chat, embedding *model.Client) {
	t.Helper()
	server := httptest.NewServer(localmodel.New(cfg).Handler())
	t.Cleanup(server.Close)
	endpoint := model.Endpoint{Provider: "offline", BaseURL: server.URL + "/v1", Model: localmodel.ChatModel}
	chat = model.New(endpoint, nil)
	endpoint.Model, endpoint.Dimensions = localmodel.EmbeddingModel, localmodel.Dimensions
	return chat, model.New(endpoint, nil)
}
