package api

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// smallBody is the size up to which a body counts as small: it is the limit of
// most routes, and does not count against the memory of large bodies.
const smallBody = 1 << 20

// route is an operation and what stands around its handler.
type route struct {
	huma.Operation
	scope    knowledge.Scope // that the caller needs
	instance bool            // for the instance's administrator only
	public   bool            // needs no credentials, or its handler authenticates
	proves   bool            // of a public route: wrong credentials are refused before anything else, unless a link's token stands in for them
	limit    int64           // of the body in bytes; 0 = smallBody
	streams  bool            // the handler reads the body itself, and its Idempotency-Key
	secret   bool            // the answer holds a secret, which must not be stored readably
	anew     bool            // the answer is not stored: the handler runs again for a repetition under its Idempotency-Key
}

// routeMetadata is where an operation keeps its route.
const routeMetadata = "route"

// handle registers a handler, whose input huma decodes and checks. The handler
// gets the principal of the caller as it acts for the user whom the query
// parameters name, in the workspace of the path; on a public route, none.
func handle[I, O any](s *Server, rt route, h func(context.Context, knowledge.Principal, *I) (*O, error)) {
	op := rt.described()
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, callOf(ctx).principal, in)
		if err != nil {
			return nil, problem(ctx, requestLog(ctx), err)
		}
		return out, nil
	})
}

// handleRaw registers a handler whose body huma must not decode, because it is
// large or not JSON. The handler reads its request and writes its response
// itself; rt.Operation describes both.
func handleRaw(s *Server, rt route, h func(w http.ResponseWriter, r *http.Request, p knowledge.Principal)) {
	op := rt.described()
	s.api.OpenAPI().AddOperation(&op)
	s.api.Adapter().Handle(&op, func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		h(w, r, callOf(r.Context()).principal)
	})
}

// described returns the operation with its limits, its errors and its security.
func (rt route) described() huma.Operation {
	if rt.limit == 0 {
		rt.limit = smallBody
	}
	op := rt.Operation
	op.MaxBodyBytes = rt.limit + 1 // huma refuses a body of exactly the limit
	op.Metadata = map[string]any{routeMetadata: &rt}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = errorResponse()
	if rt.public && !rt.proves {
		op.Security = []map[string][]string{}
	}
	return op
}

// edge is the huma adapter: it puts what belongs to every request around the
// handlers.
type edge struct {
	server *Server
	mux    *http.ServeMux
}

// Handle implements huma.Adapter.
func (e *edge) Handle(op *huma.Operation, handler func(huma.Context)) {
	// A deadline that huma sets would stay after the body was read and cancel
	// the request in the middle of a long answer. guard sets one and takes it
	// away again.
	op.BodyReadTimeout = -1
	rt := op.Metadata[routeMetadata].(*route) // every operation is made by route.described
	serve := func(w http.ResponseWriter, r *http.Request) { handler(humago.NewContext(op, r, w)) }
	e.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		e.server.guard(w, r, op, rt, serve)
	})
}

// ServeHTTP implements huma.Adapter.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

// call is what guard learned about a request.
type call struct {
	principal knowledge.Principal  // who may do what the route does
	proved    *knowledge.Principal // whose credentials these are
	provedIn  string               // the workspace of the path
	body      []byte               // nil if the route streams
	release   func()               // releases the memory of the body
	claim     *idempotency.Claim   // nil without an Idempotency-Key
	partly    bool                 // a part of the request was done, although the rest was refused
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// guard runs before every handler: it checks credentials, scope and query
// parameters, reads the body within its limit, and claims the Idempotency-Key.
func (s *Server) guard(w http.ResponseWriter, r *http.Request, op *huma.Operation, rt *route, next http.HandlerFunc) {
	c := &call{}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	if !rt.public {
		p, err := s.authorize(r, rt)
		if err != nil {
			writeError(w, r, err)
			return
		}
		c.principal = p
	}
	if rt.proves && !r.URL.Query().Has("token") {
		if _, err := s.prove(r, r.PathValue("workspaceId")); err != nil {
			writeError(w, r, err)
			return
		}
	}
	if err := checkQuery(op, rt, r); err != nil {
		writeError(w, r, err)
		return
	}
	if rt.streams || r.Method == http.MethodGet || r.Method == http.MethodHead {
		next(w, r)
		return
	}
	body, release, err := s.takeBody(w, r, rt.limit)
	if err != nil {
		writeError(w, r, err)
		return
	}
	defer release()
	c.body, c.release = body, release
	r.Body = io.NopCloser(bytes.NewReader(body))
	if rt.public || r.Method != http.MethodPost {
		next(w, r)
		return
	}
	s.once(w, r, rt, idempotency.Hash(body), next)
}

// authorize returns the caller's principal, or an error if it may not use the
// route.
func (s *Server) authorize(r *http.Request, rt *route) (knowledge.Principal, error) {
	p, err := s.principal(r, r.PathValue("workspaceId"), actingFromQuery(r))
	if err != nil {
		return p, err
	}
	if rt.instance && !p.Instance() {
		return p, knowledge.Errorf(knowledge.CodeForbidden, "this needs the instance's admin key")
	}
	if rt.scope != "" && !p.Can(rt.scope) {
		return p, knowledge.Errorf(knowledge.CodeForbidden, "this needs the scope %q; ask for a key that has it", rt.scope)
	}
	return asReader(r, p), nil
}
