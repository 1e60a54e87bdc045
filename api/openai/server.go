package openai

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// Models are the model endpoints of the instance. All fields are required.
type Models struct {
	Chat      Chat
	Embedding Embedder
	// EmbeddingOf returns the embedding model with another length of its vectors.
	EmbeddingOf func(dimensions int) Embedder
}

// Chat is the chat model of the instance. It is safe for concurrent use.
type Chat interface {
	// Endpoint returns where the model is, and its name there.
	Endpoint() model.Endpoint
	// ForwardChat sends a request to the endpoint as it is.
	ForwardChat(ctx context.Context, body []byte, stream bool) (*model.Forwarded, error)
}

// Addresses knows which addresses that users give may be reached.
type Addresses interface {
	// CheckResolved returns CodeInvalid for an address that may not be reached. It resolves
	// the name of the address.
	CheckResolved(ctx context.Context, address string) error
}

// Embedder is an embedding model. It is safe for concurrent use.
type Embedder interface {
	// Endpoint returns where the model is, and its name there.
	Endpoint() model.Endpoint
	// Embed returns one vector for each text.
	Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error)
	// MaxTexts returns how many of n texts a request may hold.
	MaxTexts(n int) int
}

// Deps is what a Server works with. All fields are required, and safe for concurrent use.
type Deps struct {
	Edge      *edge.Edge
	Store     Store
	Questions Questions
	Models    Models
	Runs      Runs
	Blobs     Blobs
	Addresses Addresses
	FileBytes int64 // bounds an uploaded file
	// WriteAllowance sends what a limit of questions still allows.
	WriteAllowance func(w http.ResponseWriter, a question.Allowance)
	// Address returns the address at which the sender of a request reaches the API.
	Address func(r *http.Request) string
}

// Store is the part of the database that the protocol shows. Things that a principal may
// not see are CodeNotFound.
type Store interface {
	// Project returns a project by its id or its name.
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	// Projects lists the projects that the principal covers, by page.
	Projects(ctx context.Context, p knowledge.Principal, page store.Page) (list []knowledge.Project, cursor string, err error)
	// Document returns a document.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// Documents lists documents, newest first.
	Documents(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) ([]knowledge.Document, string, error)
	// CountDocuments counts the documents that the query asks for.
	CountDocuments(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) (int, error)
}

// Questions starts the runs of questions.
type Questions interface {
	// Project returns the project that a request is for, "" = the one that the principal
	// is held to.
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	// Allow counts a question that starts no run against the limits of its caller and of
	// the project. Above them it is CodeRateLimited.
	Allow(ctx context.Context, p knowledge.Principal, project knowledge.Project) (question.Allowance, error)
	// Start starts the run of a question, or finds the one that the same request started.
	Start(ctx context.Context, p knowledge.Principal, r question.Request) (question.Started, error)
}

// Server serves the protocol. It is safe for concurrent use.
type Server struct {
	deps Deps
}

// Register adds the routes of the protocol to an edge.
func Register(deps Deps) error {
	if deps.Edge == nil || deps.Store == nil || deps.Questions == nil || deps.Runs == nil || deps.Blobs == nil || deps.WriteAllowance == nil || deps.Address == nil {
		return errors.New("openai: Edge, Store, Questions, Runs, Blobs, WriteAllowance and Address are required")
	}
	if deps.Models.Chat == nil || deps.Models.Embedding == nil || deps.Models.EmbeddingOf == nil {
		return errors.New("openai: Models is required")
	}
	s := &Server{deps: deps}
	s.registerModels()
	s.registerEmbeddings()
	s.registerChat()
	s.registerResponses()
	s.registerFiles()
	s.registerVectorStores()
	s.registerStoreFiles()
	s.registerFileBatches()
	s.describeNull("Response", "error", "incomplete_details", "usage")
	s.describeNull("StoreFile", "last_error")
	return nil
}

// describeNull describes that objects of an answer may be null, which huma has no tag for.
func (s *Server) describeNull(name string, properties ...string) {
	schemas := s.deps.Edge.OpenAPI().Components.Schemas.Map()[name].Properties
	for _, property := range properties {
		schemas[property] = &huma.Schema{OneOf: []*huma.Schema{{Ref: schemas[property].Ref}, {Type: "null"}}}
	}
}

// workspaceRoot is where a workspace has the routes too.
const workspaceRoot = "/workspaces/{workspaceId}/webhooks"

type handler func(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error

// handle registers a route at the root and below each workspace.
func (s *Server) handle(rt edge.Route, h handler) {
	id, path, responses, parameters := rt.OperationID, rt.Path, rt.Responses, rt.Parameters
	rt.Tags = []string{"openai"}
	for prefix, root := range map[string]string{"openai-": "", "workspace-openai-": workspaceRoot} {
		rt.OperationID, rt.Path = prefix+id, root+path
		rt.Responses, rt.Parameters = cloneResponses(responses), slices.Clone(parameters)
		edge.HandleRaw(s.deps.Edge, rt, func(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
			if err := h(w, r, p); err != nil {
				edge.WriteError(w, r, err)
			}
		})
	}
}

// cloneResponses keeps the two registrations of a route from sharing a map, to which each
// adds its errors. Each adds its parameters too.
func cloneResponses(responses map[string]*huma.Response) map[string]*huma.Response {
	clone := map[string]*huma.Response{}
	for status, response := range responses {
		clone[status] = response
	}
	return clone
}

// schema registers a type and returns a reference to its schema.
func schema[T any](s *Server) *huma.Schema {
	t := reflect.TypeFor[T]()
	return s.deps.Edge.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

// jsonBody describes a body of JSON.
func jsonBody[T any](s *Server) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema[T](s)}}
}

// answers describes the only answer of a route that is no error.
func answers[T any](s *Server, what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: what, Content: jsonBody[T](s)}}
}

func request[T any](s *Server) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: jsonBody[T](s)}
}

// pathParam describes a parameter of a path.
func pathParam(name, what string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Description: what, Schema: &huma.Schema{Type: huma.TypeString}}
}
