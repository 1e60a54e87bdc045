package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// auditPage is how many entries of a stream are read at a time.
const auditPage = 500

// AuditStore reads the audit of a workspace. All methods refuse a principal that may not
// read it: CodeForbidden.
type AuditStore interface {
	// Audit lists entries, newest first.
	Audit(ctx context.Context, p knowledge.Principal, q store.AuditQuery, page store.Page) (list []audit.Entry, next string, err error)
	// AuditAfter lists up to limit entries behind a place, ascending.
	AuditAfter(ctx context.Context, p knowledge.Principal, q store.AuditQuery, after int64, limit int) ([]audit.Entry, error)
	CheckMayReadAudit(p knowledge.Principal) error
}

// AuditChain is the chain of the audit.
type AuditChain interface {
	// Keep brings what this process has not stored yet into the chains.
	Keep(ctx context.Context) error
	// Verify checks the chain of a workspace behind an entry that a checkpoint knows; 0 =
	// from its beginning. An entry that none knows is CodeInvalid.
	Verify(ctx context.Context, workspace string, after int64) (audit.Report, error)
	// Checkpoints lists the signed checkpoints of a workspace.
	Checkpoints(ctx context.Context, workspace string) ([]audit.Checkpoint, error)
	// PublicKey returns the key that checks their signatures, in hexadecimal.
	PublicKey() string
}

// auditRoutes holds the routes of the audit.
type auditRoutes struct {
	store AuditStore
	chain AuditChain
}

type auditInput struct {
	WorkspacePath
	PageQuery
	Since  time.Time `query:"since" doc:"Only entries from this time on (RFC 3339)"`
	Until  time.Time `query:"until" doc:"Only entries before this time"`
	Actor  string    `query:"actor" maxLength:"300" doc:"key:ID, user:NAME or anonymous"`
	Action string    `query:"action" maxLength:"200" doc:"The operationId of a route, such as get-chunk"`
	Object string    `query:"object" maxLength:"300" doc:"The id or name of something that an entry names: a document, a run, a key"`
	Format string    `query:"format" enum:"json,jsonl,ocsf" default:"json" doc:"jsonl: all entries, oldest first, one a line. ocsf: the same as events of the Open Cybersecurity Schema Framework 1.3"`
}

func (in auditInput) query() store.AuditQuery {
	return store.AuditQuery{Since: in.Since, Until: in.Until, Actor: in.Actor, Action: in.Action, Object: in.Object}
}

// auditList is a page of entries.
type auditList = list[audit.Entry]

type verifyInput struct {
	WorkspacePath
	After int64 `query:"after" minimum:"0" doc:"The entry of a checkpoint, behind which the verification begins. Default: the beginning"`
}

type reportOutput struct{ Body audit.Report }

type checkpointsOutput struct {
	Body struct {
		Data      []audit.Checkpoint `json:"data"`
		PublicKey string             `json:"public_key" doc:"The key that checks the signatures (Ed25519, hexadecimal)"`
	} `nameHint:"AuditCheckpoints"`
}

func (ar *auditRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/audit"
	route := func(id, path, summary, description string) edge.Route {
		return edge.Route{Operation: huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Description: description, Tags: []string{"audit"}}}
	}
	entries := route("list-audit", path, "List the audit", "Newest first; jsonl and ocsf are streams of the whole range, oldest first (docs/governance.md).")
	entries.Responses = map[string]*huma.Response{"200": {Description: "A page of entries, or with format all entries of the range", Content: map[string]*huma.MediaType{
		"application/json":  {Schema: schemaOf[auditList](e.OpenAPI().Components.Schemas)},
		"application/jsonl": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
	edge.Handle(e, entries, ar.list)
	edge.Handle(e, route("verify-audit", path+"/verify", "Verify the audit", "Names the first broken link of the chain of hashes, and what the signed checkpoints know otherwise."), ar.verify)
	edge.Handle(e, route("list-audit-checkpoints", path+"/checkpoints", "List the signed checkpoints of the audit", "The newest of each day, and the record of what the retention has removed."), ar.checkpoints)
}

func (ar *auditRoutes) list(ctx context.Context, p knowledge.Principal, in *auditInput) (*huma.StreamResponse, error) {
	if err := ar.store.CheckMayReadAudit(p); err != nil {
		return nil, err
	}
	if err := ar.chain.Keep(ctx); err != nil {
		return nil, err
	}
	if in.Format == "json" {
		return ar.page(ctx, p, in)
	}
	first, err := ar.store.AuditAfter(ctx, p, in.query(), 0, auditPage)
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", err)
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", "application/jsonl")
		if err := ar.stream(ctx, p, in, first, out); err != nil {
			edge.RequestLog(ctx).WarnContext(ctx, "the stream of the audit ended early", "error", err)
			panic(http.ErrAbortHandler) // so that what came does not look whole
		}
	}}, nil
}

func (ar *auditRoutes) page(ctx context.Context, p knowledge.Principal, in *auditInput) (*huma.StreamResponse, error) {
	entries, next, err := ar.store.Audit(ctx, p, in.query(), store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	body := page(entries, next).Body
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", "application/json")
		encoder := json.NewEncoder(out.BodyWriter())
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(body) // the client may be gone
	}}, nil
}

// stream writes entries and all that follow them, one a line.
func (ar *auditRoutes) stream(ctx context.Context, p knowledge.Principal, in *auditInput, entries []audit.Entry, out huma.Context) error {
	w := bufio.NewWriterSize(out.BodyWriter(), 64<<10)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for {
		for _, e := range entries {
			var line any = e
			if in.Format == "ocsf" {
				line = audit.NewOCSF(p.Workspace(), e)
			}
			if err := encoder.Encode(line); err != nil {
				return err
			}
		}
		if len(entries) < auditPage {
			return w.Flush()
		}
		var err error
		if entries, err = ar.store.AuditAfter(ctx, p, in.query(), entries[len(entries)-1].Seq, auditPage); err != nil {
			return err
		}
	}
}

func (ar *auditRoutes) verify(ctx context.Context, p knowledge.Principal, in *verifyInput) (*reportOutput, error) {
	if err := ar.store.CheckMayReadAudit(p); err != nil {
		return nil, err
	}
	report, err := ar.chain.Verify(ctx, p.Workspace(), in.After)
	if err != nil {
		return nil, fmt.Errorf("verify the audit: %w", err)
	}
	return &reportOutput{report}, nil
}

func (ar *auditRoutes) checkpoints(ctx context.Context, p knowledge.Principal, _ *WorkspacePath) (*checkpointsOutput, error) {
	if err := ar.store.CheckMayReadAudit(p); err != nil {
		return nil, err
	}
	list, err := ar.chain.Checkpoints(ctx, p.Workspace())
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	out := &checkpointsOutput{}
	out.Body.Data, out.Body.PublicKey = notNil(list), ar.chain.PublicKey()
	return out, nil
}
