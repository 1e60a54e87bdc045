package openai

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// projectPrefix stands before the slug of a project in the name of a model.
const projectPrefix = "project:"

// owner is the owner of every object.
const owner = "cairn"

// projectsPage is the number of projects that are read at a time.
const projectsPage = 500

// Model is a model that a request may name.
type Model struct {
	ID      string `json:"id" doc:"A model of the instance, or project:<slug>"`
	Object  string `json:"object" enum:"model"`
	Created int64  `json:"created" doc:"Unix seconds; for a project, the time of its creation"`
	OwnedBy string `json:"owned_by"`
}

// ModelList is a list of models.
type ModelList struct {
	Object string  `json:"object" enum:"list"`
	Data   []Model `json:"data"`
}

func (s *Server) registerModels() {
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-models", Method: http.MethodGet, Path: "/v1/models", Summary: "List the models",
		Description: "The chat and the embedding model of the instance, and each project that the key covers.",
		Responses:   answers[ModelList](s, "The models"),
	}}, s.listModels)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-model", Method: http.MethodGet, Path: "/v1/models/{model}", Summary: "Read a model",
		Parameters: []*huma.Param{pathParam("model", "The id of the model")}, Responses: answers[Model](s, "The model"),
	}}, s.getModel)
}

// instanceModels returns the models of the instance.
func (s *Server) instanceModels() []Model {
	models := []Model{newModel(s.deps.Models.Chat.Endpoint().Model, time.Unix(0, 0))}
	if name := s.deps.Models.Embedding.Endpoint().Model; name != models[0].ID {
		models = append(models, newModel(name, time.Unix(0, 0)))
	}
	return models
}

func newModel(id string, created time.Time) Model {
	return Model{ID: id, Object: "model", Created: created.Unix(), OwnedBy: owner}
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	list := ModelList{Object: "list", Data: s.instanceModels()}
	for page := (store.Page{Limit: projectsPage}); ; {
		projects, next, err := s.deps.Store.Projects(r.Context(), p, page)
		if err != nil {
			return fmt.Errorf("list projects: %w", err)
		}
		for _, project := range projects {
			list.Data = append(list.Data, newModel(projectPrefix+project.ID, project.CreatedAt))
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	edge.WriteJSON(w, http.StatusOK, list)
	return nil
}

func (s *Server) getModel(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	name := r.PathValue("model")
	if slug, ok := strings.CutPrefix(name, projectPrefix); ok {
		project, err := s.deps.Store.Project(r.Context(), p, slug)
		if err != nil {
			return unknownModel(name, err)
		}
		edge.WriteJSON(w, http.StatusOK, newModel(projectPrefix+project.ID, project.CreatedAt))
		return nil
	}
	for _, m := range s.instanceModels() {
		if m.ID == name {
			edge.WriteJSON(w, http.StatusOK, m)
			return nil
		}
	}
	return unknownModel(name, nil)
}

// unknownModel returns the error for a model that is not there. Another failure of
// reading a project stays as it is.
func unknownModel(name string, err error) error {
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return err
	}
	e := knowledge.NotFound("model", name)
	e.Message += "; GET /v1/models lists those that there are"
	e.Fields = []knowledge.Field{{Location: "body.model", Message: e.Message}}
	return e
}
