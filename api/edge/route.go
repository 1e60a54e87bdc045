package edge

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SmallBody is the size up to which a body counts as small: it is the limit of
// most routes, and does not count against the memory of large bodies.
const SmallBody = 1 << 20

// Route is an operation and what stands around its handler.
type Route struct {
	huma.Operation
	Public  bool             // needs no credentials, or its handler authenticates
	Proves  bool             // of a public route: wrong credentials are refused before anything else, unless a link's token stands in for them
	SignsIn bool             // of a public route: its body is credentials
	Limit   int64            // of the body in bytes; 0 = SmallBody
	Streams bool             // the handler reads the body itself, and its Idempotency-Key
	Form    http.HandlerFunc // serves a body of multipart/form-data, which it reads itself, as well as its Idempotency-Key; nil = there is no such body
	Secret  bool             // the answer holds a secret, which must not be stored readably
	ByGrant bool             // a reader reaches the handler too: a grant may let it change the document of the request
	Anew    bool             // the answer is not stored: the handler runs again for a repetition under its Idempotency-Key

	needs   knowledge.Permission // of the caller, by the table of package access
	audited bool                 // each answer is in the audit
	changes bool                 // it may change something
	names   []string             // the parameters of the path, without the workspace
}

// routeMetadata is where an operation keeps its route.
const routeMetadata = "route"

// Handle registers a handler, whose input huma decodes and checks. The handler
// gets the principal of the caller as it acts for the user whom the query
// parameters name, in the workspace of the path; on a public route, none.
func Handle[I, O any](e *Edge, rt Route, h func(context.Context, knowledge.Principal, *I) (*O, error)) {
	op := e.operation(rt)
	huma.Register(e.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, callOf(ctx).principal, in)
		if err != nil {
			return nil, problem(ctx, RequestLog(ctx), err)
		}
		return out, nil
	})
}

// HandleRaw registers a handler whose body huma must not decode, because it is
// large or not JSON. The handler reads its request and writes its response
// itself; rt.Operation describes both. A hidden operation is not in openapi.json.
func HandleRaw(e *Edge, rt Route, h func(w http.ResponseWriter, r *http.Request, p knowledge.Principal)) {
	op := e.operation(rt)
	if !op.Hidden {
		e.api.OpenAPI().AddOperation(&op)
	}
	e.api.Adapter().Handle(&op, func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		h(w, r, callOf(r.Context()).principal)
	})
}

// operation returns the operation of a route with its limits, its errors, its security and
// the permission that it needs.
func (e *Edge) operation(rt Route) huma.Operation {
	rt.needs = e.needed(rt)
	rt.audited, rt.changes = access.Audited(access.RouteName(rt.Method, rt.Path))
	rt.names = namesIn(rt.Path)
	if rt.Limit == 0 {
		rt.Limit = SmallBody
	}
	op := rt.Operation
	op.MaxBodyBytes = rt.Limit + 1 // huma refuses a body of exactly the limit
	op.Metadata = map[string]any{routeMetadata: &rt}
	op.Extensions = map[string]any{PermissionExtension: rt.needs}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = ErrorResponseOf(op.Path)
	if rt.Public && !rt.Proves {
		op.Security = []map[string][]string{}
	}
	return op
}

// adapter is the huma adapter: it puts what belongs to every request around the
// handlers.
type adapter struct {
	edge *Edge
}

// Handle implements huma.Adapter.
func (a *adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	// A deadline that huma sets would stay after the body was read and cancel
	// the request in the middle of a long answer. guard sets one and takes it
	// away again.
	op.BodyReadTimeout = -1
	rt := op.Metadata[routeMetadata].(*Route) // every operation is made by Edge.operation
	serve := func(w http.ResponseWriter, r *http.Request) { handler(humago.NewContext(op, r, w)) }
	pattern := op.Path
	if pattern == "/" {
		pattern = "/{$}" // else ServeMux would serve every path that has no route
	}
	if _, known := a.edge.methods[pattern]; !known {
		a.edge.paths.Handle(pattern, http.NotFoundHandler())
	}
	a.edge.methods[pattern] = append(a.edge.methods[pattern], op.Method)
	a.edge.mux.HandleFunc(op.Method+" "+pattern, func(w http.ResponseWriter, r *http.Request) {
		a.edge.guard(w, r, op, rt, serve)
	})
}

// ServeHTTP implements huma.Adapter.
func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.edge.mux.ServeHTTP(w, r) }
