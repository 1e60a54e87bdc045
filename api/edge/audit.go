package edge

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// RequestHeader names the request in its answer, as the audit names it.
const RequestHeader = "Cairn-Request-Id"

// newTrail returns the trail of a request.
func (e *Edge) newTrail(r *http.Request, c *call) *audit.Trail {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil { // a request within the process
		address = ""
	}
	return audit.NewTrail(audit.Config{Questions: e.cfg.AuditQuestions, Failed: func(err error) {
		e.deps.Log.ErrorContext(context.WithoutCancel(r.Context()), "a row of the audit was not kept", "request", c.id, "error", err)
	}}, e.deps.Audit, c.id, address)
}

// begin notes that the handler of a route runs next, so that the first change has a row.
func (e *Edge) begin(r *http.Request, rt *Route) {
	c := callOf(r.Context())
	if c.trail != nil && rt.audited {
		c.trail.Begin(c.action(r, rt), c.from(r))
	}
}

// keepAudit keeps the row of a request before its answer begins: an answer without one must
// not leave.
func (e *Edge) keepAudit(r *http.Request, c *call, status int) error {
	rt := c.route
	if rt == nil || c.trail == nil { // no route, or no audit
		return nil
	}
	outcome := audit.OutcomeOK
	switch {
	case c.code != "":
		outcome = string(c.code)
	case status >= http.StatusBadRequest:
		outcome = "http_" + strconv.Itoa(status)
	}
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	isFlood := status == http.StatusTooManyRequests && c.proved == nil && c.holder == nil // the refusals before it are written
	isFlood = isFlood || c.quota != nil && c.quota.IsFlood()
	if isFlood || !rt.audited && !refused && !c.trail.HasDocuments() {
		return nil
	}
	return c.trail.Answer(r.Context(), c.action(r, rt), c.from(r), status, outcome)
}

// action is what a request asks for.
func (c *call) action(r *http.Request, rt *Route) audit.Action {
	a := audit.Action{Name: cmp.Or(rt.OperationID, access.RouteName(rt.Method, rt.Path)), Changes: rt.changes}
	for i, name := range rt.names {
		if i == 0 {
			a.Object = r.PathValue(name)
		} else {
			a.Path = append(a.Path, r.PathValue(name))
		}
	}
	if len(rt.names) == 0 {
		for _, name := range []string{"id", "runId", "document_id"} {
			if value := r.URL.Query().Get(name); value != "" {
				a.Object = value
			}
		}
	}
	return a
}

// from is who sent a request, as far as it is known by now.
func (c *call) from(r *http.Request) audit.Sender {
	workspace := r.PathValue("workspaceId")
	switch {
	case c.holder != nil && c.sender == nil:
		return audit.Sender{Actor: actorOf(c.holder.Key), Link: true, Workspace: workspace}
	case c.proved == nil:
		return audit.Sender{Workspace: workspace}
	case c.sender == nil: // it is refused in that workspace
		s := audit.SenderOf(*c.proved)
		s.Named = workspace
		return s
	}
	p := *c.sender
	if c.acting != nil {
		p = *c.acting
	} else if c.principal.Workspace() != "" {
		p = c.principal
	}
	s := audit.SenderOf(p)
	s.Session = c.senderSession != ""
	return s
}

// actorOf returns the actor of a link, which the holder of a key made, or of a JWT.
func actorOf(key string) string {
	if key == "" {
		return ""
	}
	return "key:" + key
}

// ByLink notes for whom a link was made with which a request is served, and the workspace in
// which it is good.
func ByLink(ctx context.Context, link access.Link) {
	SetHolder(ctx, LinkHolder(link))
	audit.Within(ctx, link.Workspace)
}

// namesIn returns the names of the parameters of a path, without the workspace.
func namesIn(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok && name != "workspaceId}" {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// noteCode notes the code of the error with which a request is answered.
func noteCode(ctx context.Context, code knowledge.Code) { callOf(ctx).code = code }
