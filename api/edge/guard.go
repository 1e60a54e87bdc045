package edge

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// call is what observe and guard learned about a request.
type call struct {
	log             *slog.Logger // of the server; RequestLog adds what follows
	id              string       // of the request
	method          string
	quota           *quota.Request                                       // nil = the request is not counted
	trail           *audit.Trail                                         // nil = there is no audit
	route           *Route                                               // nil = the request has none
	code            knowledge.Code                                       // of the error of the answer, "" = there is none
	proved          *knowledge.Principal                                 // whose credentials these are, before the workspace of the path was looked at
	acting          *knowledge.Principal                                 // as the body says for whom it acts
	principal       knowledge.Principal                                  // who may do what the route does
	sender          *knowledge.Principal                                 // whose credentials these are
	holder          *Holder                                              // of the link that opened it
	senderSession   string                                               // the hash of the cookie that they are; "" = they are a key or a JWT
	senderWorkspace string                                               // the workspace of the path
	body            []byte                                               // nil if the route streams
	needs           knowledge.Permission                                 // of the sender
	byGrant         bool                                                 // documents.read is enough: a grant may stand in for needs
	release         func()                                               // releases the memory of the body
	claim           *idempotency.Claim                                   // nil without an Idempotency-Key
	partly          bool                                                 // a part of the request was done, although the rest was refused
	refuse          func(unauthorized *knowledge.Error) *knowledge.Error // counts wrong credentials; nil = the request has none
	later           func()                                               // answers the request after its handler has returned; nil = the handler did
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// Later has serve answer the request when its handler, and all that checked the request,
// has returned. The stack of an idle stream is much of its memory, and does not shrink
// below four times what was called to begin it. Only handlers of public routes may use it:
// the others answer within the hold of an Idempotency-Key. The body of the request has been
// read, and serve gets none: a stream may be open for an hour.
func Later(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	c := callOf(r.Context())
	c.body, r.Body = nil, http.NoBody
	c.later = func() { serve(w, r) }
}

// guard runs before every handler: it checks credentials, permission and query
// parameters, reads the body within its limit, and claims the Idempotency-Key.
func (e *Edge) guard(w http.ResponseWriter, r *http.Request, op *huma.Operation, rt *Route, next http.HandlerFunc) {
	c := callOf(r.Context())
	c.needs, c.byGrant, c.route = rt.needs, rt.ByGrant, rt
	if !rt.Public {
		p, err := e.PrincipalFromQuery(r, r.PathValue("workspaceId"))
		if err != nil {
			WriteError(w, r, err)
			return
		}
		c.principal = AsReader(r, p)
	}
	if rt.SignsIn {
		c.refuse = e.refuseSender(r)
	}
	if rt.Proves && !r.URL.Query().Has("token") {
		if _, err := e.prove(r, r.PathValue("workspaceId")); err != nil {
			WriteError(w, r, err)
			return
		}
	}
	if err := checkQuery(op, rt, r); err != nil {
		WriteError(w, r, err)
		return
	}
	e.begin(r, rt)
	if rt.Streams || r.Method == http.MethodGet || r.Method == http.MethodHead {
		next(w, r)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); rt.Form != nil && err == nil && kind == "multipart/form-data" {
		rt.Form(w, r)
		return
	}
	body, release, err := e.takeBody(w, r, rt.Limit)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	defer release()
	c.body, c.release = body, release
	r.Body = io.NopCloser(bytes.NewReader(body))
	if rt.Public || r.Method != http.MethodPost {
		next(w, r)
		return
	}
	e.Once(w, r, rt, idempotency.Hash(body), next)
}
