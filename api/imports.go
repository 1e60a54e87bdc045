package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// importBody is the body of POST /imports.
type importBody struct {
	ProjectID      string         `json:"project_id,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: the key's project, or default"`
	Source         ImportSource   `json:"source"`
	Tags           []string       `json:"tags,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
	Access         *accessBody    `json:"access,omitempty" doc:"As in POST /document"`
	Classification *string        `json:"classification,omitempty" maxLength:"128" doc:"As in POST /document"`
	Subjects       []string       `json:"subjects,omitempty" maxItems:"64" doc:"As in POST /document; a file name.meta.json beside an object adds to them"`
	ImportChoice
}

// ImportChoice says which objects of a source are imported, and as what.
type ImportChoice struct {
	Include        []string     `json:"include,omitempty" doc:"Patterns of the objects to import, such as reports/**/*.pdf. Default: all"`
	Exclude        []string     `json:"exclude,omitempty" doc:"Patterns of the objects to skip"`
	Rules          []importRule `json:"rules,omitempty" doc:"Tags and metadata for the objects that match a pattern. Later rules override the metadata of earlier ones; a file name.meta.json beside the object overrides all rules"`
	Parser         string       `json:"parser,omitempty" enum:"crawler,model" doc:"crawler: extract the text of the files. model: let the chat model, which must accept images, transcribe the pages of files that have pages. Default: crawler"`
	RemoveVanished bool         `json:"remove_vanished,omitempty" doc:"Remove the documents of objects that an earlier import of this source found and this one does not find"`
	DryRun         bool         `json:"dry_run,omitempty" doc:"Only list and count the objects"`
}

// ImportSource is where the objects of an import are.
type ImportSource struct {
	Type    string        `json:"type" enum:"s3,gcs,azure,zip,url_list,crawl,webdav,drive,sharepoint,confluence,notion,git,imap" doc:"webdav, drive, sharepoint, confluence, notion, git, imap: of the runs of a sync alone (POST …/syncs)"`
	URI     string        `json:"uri" minLength:"1" maxLength:"2048" doc:"s3://bucket/prefix, gs://bucket/prefix, azblob://container/prefix, or the URL of an archive, a list of URLs or a web site"`
	Options SourceOptions `json:"options,omitzero" doc:"Each type accepts its own options only"`
	Secret  string        `json:"secret,omitempty" maxLength:"63" doc:"The name of a secret with the use import that holds the credentials (PUT …/secrets). A bucket needs one unless it is anonymous, or the workspace may use the identity of the server"`
}

// SourceOptions are the settings of a source.
type SourceOptions struct {
	Endpoint   string `json:"endpoint,omitempty" maxLength:"2048" doc:"The URL of a service that is compatible with S3, GCS or Azure"`
	Region     string `json:"region,omitempty" maxLength:"100" doc:"The region of an S3 bucket"`
	PathStyle  bool   `json:"path_style,omitempty" doc:"Put the name of the S3 bucket into the path of the URL, not into the host name"`
	Anonymous  bool   `json:"anonymous,omitempty" doc:"Send no credentials to the bucket"`
	RoleARN    string `json:"role_arn,omitempty" maxLength:"2048" doc:"The AWS role to assume for reading the S3 bucket"`
	ExternalID string `json:"external_id,omitempty" maxLength:"1224" doc:"The external id for assuming the role"`
	MaxPages   int    `json:"max_pages,omitempty" minimum:"1" doc:"The largest number of pages of a crawl. Default: 10,000"`
	MaxDepth   int    `json:"max_depth,omitempty" minimum:"1" doc:"The largest number of links to follow from the start page of a crawl. Default: 20"`
	DelayMS    int    `json:"delay_ms,omitempty" minimum:"1" doc:"Milliseconds between two requests of a crawl; a longer Crawl-delay of the site takes precedence. Default: 500"`
}

func (s ImportSource) spec() objects.Spec {
	return objects.Spec{Type: objects.Type(s.Type), URI: s.URI, Options: objects.Options(s.Options), Secret: s.Secret}
}

func viewSource(s objects.Spec) ImportSource {
	return ImportSource{Type: string(s.Type), URI: s.URI, Options: SourceOptions(s.Options), Secret: s.Secret}
}

// importRule gives tags and metadata to the objects that match a pattern.
type importRule struct {
	Match    string         `json:"match" doc:"A pattern such as legal/**"`
	Tags     []string       `json:"tags,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// request returns what the body asks for.
func (b importBody) request() store.ImportRequest {
	r := store.ImportRequest{Source: b.Source.spec(), Tags: b.Tags, Metadata: b.Metadata, Access: b.Access.access(), Classification: b.Classification, Subjects: b.Subjects}
	b.choose(&r)
	return r
}

// choose sets what a request imports.
func (c ImportChoice) choose(r *store.ImportRequest) {
	r.Include, r.Exclude, r.RemoveVanished, r.DryRun = c.Include, c.Exclude, c.RemoveVanished, c.DryRun
	r.Parser = cmp.Or(knowledge.Parser(c.Parser), r.Parser)
	for _, rule := range c.Rules {
		r.Rules = append(r.Rules, store.ImportRule(rule))
	}
}

type importPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The import"`
}

type importOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body Import
}

// importRoutes holds the routes of imports.
type importRoutes struct {
	store   Store
	intake  *intake.Intake
	imports *importing.Starter
	results *results
	views   *views
}

func (ir *importRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/imports"
	route := taggedWithStatus("imports")
	edge.Handle(e, route("start-import", http.MethodPost, path, "Start an import",
		"A source is a bucket, an archive, a list of URLs or a web site. Objects that are unchanged since an earlier import of the source are skipped. A source can have one import at a time.", http.StatusAccepted), ir.startImport)
	edge.Handle(e, route("list-imports", http.MethodGet, path, "List imports, newest first", "", 0), ir.listImports)
	edge.Handle(e, route("get-import", http.MethodGet, path+"/{id}", "Read an import, its counters and its first failures", "", 0), ir.getImport)
	edge.Handle(e, route("list-import-failures", http.MethodGet, path+"/{id}/failures", "List the failed objects of an import", "", 0), ir.listImportFailures)
	edge.Handle(e, route("pause-import", http.MethodPost, path+"/{id}/pause", "Pause an import", "The import starts no more objects and finishes those in progress, within seconds.", http.StatusAccepted), ir.pauseImport)
	edge.Handle(e, route("resume-import", http.MethodPost, path+"/{id}/resume", "Resume an import", "Documents of a running import that wait for a model's endpoint are tried at once.", http.StatusAccepted), ir.resumeImport)
	edge.Handle(e, route("cancel-import", http.MethodPost, path+"/{id}/cancel", "Cancel an import", "Documents that it has published remain.", http.StatusAccepted), ir.cancelImport)
	edge.Handle(e, route("retry-import", http.MethodPost, path+"/{id}/retry_failed", "Retry the objects of an import that failed",
		"Of a running import, the documents that wait for a model's endpoint are tried at once; without such documents a running import is a conflict. Each object that failed is ingested by its own run. The import stays open until all of them have ended.", http.StatusAccepted), ir.retryImport)
}

func (ir *importRoutes) startImport(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body importBody
}) (*importOutput, error) {
	project, err := ir.intake.Project(ctx, p, in.Body.ProjectID)
	if err != nil {
		return nil, err
	}
	id, _ := edge.RunID(ctx)
	i, err := ir.imports.Start(ctx, p, project, id, in.Body.request())
	if err != nil {
		return nil, err
	}
	audit.Made(ctx, i.Import)
	audit.Ran(ctx, i.RunID)
	return &importOutput{i.RunID, ir.views.importView(p, i, nil)}, nil
}

func (ir *importRoutes) listImports(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Project string `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
	Sync    string `query:"sync_id" maxLength:"64" doc:"Only the runs of this sync"`
}) (*listOutput[Import], error) {
	project, err := projectID(ctx, ir.store, p, in.Project)
	if err == nil && in.Sync != "" {
		_, err = ir.store.Sync(ctx, p, in.Sync)
	}
	if err != nil {
		return nil, err
	}
	list, next, err := ir.store.Imports(ctx, p, store.ImportFilter{Project: project, Sync: in.Sync}, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	return page(convert(list, func(i store.Import) Import { return ir.views.importView(p, i, nil) }), next), nil
}

func (ir *importRoutes) getImport(ctx context.Context, p knowledge.Principal, in *importPath) (*importOutput, error) {
	i, err := ir.store.Import(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read import %s: %w", in.ID, err)
	}
	view, err := ir.results.withFailures(ctx, p, i)
	if err != nil {
		return nil, err
	}
	return &importOutput{Body: view}, nil
}

func (ir *importRoutes) listImportFailures(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	ID string `path:"id" maxLength:"64" doc:"The import"`
}) (*listOutput[ImportFailure], error) {
	list, next, err := ir.store.ImportFailures(ctx, p, in.ID, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list failures of import %s: %w", in.ID, err)
	}
	return page(convert(list, viewFailure), next), nil
}

func (ir *importRoutes) pauseImport(ctx context.Context, p knowledge.Principal, in *importPath) (*importOutput, error) {
	return ir.change(ctx, p, func() (store.Import, error) { return ir.imports.Pause(ctx, p, in.ID, true) })
}

func (ir *importRoutes) resumeImport(ctx context.Context, p knowledge.Principal, in *importPath) (*importOutput, error) {
	return ir.change(ctx, p, func() (store.Import, error) { return ir.imports.Pause(ctx, p, in.ID, false) })
}

func (ir *importRoutes) cancelImport(ctx context.Context, p knowledge.Principal, in *importPath) (*importOutput, error) {
	return ir.change(ctx, p, func() (store.Import, error) { return ir.imports.Cancel(ctx, p, in.ID) })
}

func (ir *importRoutes) retryImport(ctx context.Context, p knowledge.Principal, in *importPath) (*importOutput, error) {
	run, _ := edge.RunID(ctx)
	out, err := ir.change(ctx, p, func() (store.Import, error) { return ir.imports.Retry(ctx, p, in.ID, run) })
	if err == nil {
		out.Run = out.Body.RunID
	}
	return out, err
}

// change returns an import as a change left it.
func (ir *importRoutes) change(ctx context.Context, p knowledge.Principal, change func() (store.Import, error)) (*importOutput, error) {
	i, err := change()
	if err != nil {
		return nil, err
	}
	view, err := ir.results.withFailures(ctx, p, i)
	if err != nil {
		return nil, err
	}
	return &importOutput{Body: view}, nil
}
