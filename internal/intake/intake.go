package intake

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/store"
)

// defaultProject takes the documents whose request names no project and whose
// principal covers all.
const defaultProject = "default"

// startPatience bounds the start of a workflow.
const startPatience = 10 * time.Second

// Config bounds what is taken in. The bounds of sizes and files are required.
type Config struct {
	knowledge.InstanceLimits

	RequestFiles int // of one Batch
	// Levels are the levels of classification. Defaults to those of knowledge.Levels.
	Levels knowledge.Levels
}

// Intake takes documents in. It is safe for concurrent use.
type Intake struct {
	cfg  Config
	deps Deps
}

// New returns an Intake.
func New(cfg Config, deps Deps) *Intake { return &Intake{cfg: cfg, deps: deps} }

// Project returns the project that a document goes to: the one that the request
// names by its id or its name, else the one that the principal is held to, else
// "default".
func (in *Intake) Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error) {
	id := idOrName
	if id == "" {
		id = p.Project()
	}
	if id == "" {
		id = defaultProject
	}
	project, err := in.deps.Store.Project(ctx, p, id)
	if idOrName == "" && knowledge.IsCode(err, knowledge.CodeNotFound) {
		return project, knowledge.Invalid("query.projectId", "must name a project: there is none named %q", id)
	}
	if err != nil {
		return project, fmt.Errorf("read project %s: %w", id, err)
	}
	return project, quota.Count(ctx, p, project.ID)
}

// Taken is a document that was taken in, and the run that ingests it.
type Taken struct {
	Document knowledge.Document
	Run      string
	// Readers are those of the version that was taken in, who may differ from those of the
	// version that is published.
	Readers knowledge.Readers
	// Unchanged reports that the newest version of the document is the same, and that
	// Run is that version's. Nothing was started.
	Unchanged bool
}

// Take checks a document, stores its bytes, puts its version on record and
// starts its ingestion. It returns the document as the request described it, or,
// for a repeated request or an unchanged document, as it is now. An ingestion that
// cannot be started now is started later: that is no error.
func (in *Intake) Take(ctx context.Context, p knowledge.Principal, project knowledge.Project, run Run, d Document) (Taken, error) {
	if before, found, err := in.before(ctx, p, run); found || err != nil {
		return Taken{Document: before, Run: run.ID, Readers: before.Readers()}, err
	}
	nv, err := in.prepare(ctx, p, project, run.ID, d)
	if err != nil {
		return Taken{}, err
	}
	nv.DocumentID = documentID(nv, 0)
	if err := in.seal(d.Password, &nv); err != nil {
		return Taken{}, err
	}
	if err := in.checkRoom(ctx, p, project, nv); err != nil {
		return Taken{}, err
	}
	if err := in.storeContent(ctx, project, d.Content, &nv); err != nil {
		return Taken{}, err
	}
	err = in.checkBytes(ctx, p, project, nv)
	var taken Taken
	if err == nil {
		taken, err = in.accept(ctx, nv)
	}
	if err != nil {
		in.dropOriginal(ctx, nv, err)
	}
	return taken, err
}

// prepare checks all of a document that can be known without its bytes.
func (in *Intake) prepare(ctx context.Context, p knowledge.Principal, project knowledge.Project, run string, d Document) (store.NewVersion, error) {
	nv := store.NewVersion{Workspace: project.Workspace, Project: project.ID, Limits: project.Config.Limits, RunID: run, Now: in.deps.Now(), Uploader: p}
	if err := in.attribute(ctx, p, project, d.Attributes, &nv); err != nil {
		return nv, err
	}
	accounts, err := in.accounts(ctx, p, project)
	if err != nil {
		return nv, err
	}
	nv.Accounts = accounts
	if err := d.Content.check(); err != nil {
		return nv, err
	}
	nv.Name, err = d.name()
	return nv, err
}

// attribute checks the attributes and sets them on a version.
func (in *Intake) attribute(ctx context.Context, p knowledge.Principal, project knowledge.Project, a Attributes, nv *store.NewVersion) (err error) {
	if err := a.check(in.cfg.Levels); err != nil {
		return err
	}
	nv.Enrichment = a.Override.EnrichmentIn(project.Config)
	if nv.Splitter, err = a.Override.ApplyTo(project.Config); err != nil {
		return err
	}
	if a.ConversationID != "" {
		if err := in.checkConversation(ctx, p, a); err != nil {
			return err
		}
	}
	a.describe(nv)
	return nil
}

// seal sets the sealed password of a version's file. Only the ingestion of the
// document opens it.
func (in *Intake) seal(password string, nv *store.NewVersion) (err error) {
	if password == "" {
		return nil
	}
	if nv.SealedPassword, err = in.deps.Secrets.Seal(password, nv.DocumentID); err != nil {
		return fmt.Errorf("seal the password of document %s: %w", nv.DocumentID, err)
	}
	return nil
}

// checkConversation refuses a conversation that is not the user's for whom the
// document comes: the external user whom the document names, else the one for
// whom the request acts.
func (in *Intake) checkConversation(ctx context.Context, p knowledge.Principal, a Attributes) error {
	acting := access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: a.ConversationID}
	if a.ExternalUserID != "" {
		if p.KeyID() != "" && p.User() != "" {
			return knowledge.Invalid("body.externalUserId", "must be left out of a request that acts for a user: it names another")
		}
		acting.ExternalUser = a.ExternalUserID
	}
	_, err := in.deps.Conversations.As(ctx, p, acting)
	return err
}

// documentID returns the id of a version's document: derived from its external
// id, or from the run and the place in the request, which are the same when the
// request is repeated.
func documentID(nv store.NewVersion, place int) string {
	if nv.ExternalID != "" {
		return knowledge.DocumentID(nv.Workspace, nv.Project, nv.ExternalID)
	}
	return knowledge.DerivedID("upload", nv.Workspace, nv.Project, nv.RunID, strconv.Itoa(place))
}

// checkRoom refuses documents beyond the number that a project may have, before their
// bytes are stored. Others may take the room meanwhile: AddVersion checks it again.
func (in *Intake) checkRoom(ctx context.Context, p knowledge.Principal, project knowledge.Project, more ...store.NewVersion) error {
	limit := project.Config.Limits.Documents
	limited := len(more) > 0 && limitStored(more[0].Accounts)
	if limit == 0 && !limited {
		return nil
	}
	added := 0 // the others are new versions of documents
	for _, nv := range more {
		if _, err := in.deps.Store.Document(ctx, p, nv.DocumentID); err != nil {
			added++
		}
	}
	if added == 0 {
		return nil
	}
	if limited {
		if err := in.deps.Store.CheckStored(ctx, project.Workspace, more[0].Accounts, added, 0); err != nil {
			return err
		}
	}
	if limit == 0 {
		return nil
	}
	total, err := in.deps.Store.CountDocuments(ctx, p, store.DocumentQuery{Project: project.ID})
	if err != nil {
		return err
	}
	if total+added > limit {
		return knowledge.Errorf(knowledge.CodeLimitReached, "project %q has %d of its %d documents, and this would be %d more: remove some, or raise limits.documents", project.ID, total, limit, added)
	}
	return nil
}

// checkBytes refuses documents beyond the bytes that a project may have. AddVersion
// checks them again. The bytes behind an address are checked when they have come.
func (in *Intake) checkBytes(ctx context.Context, p knowledge.Principal, project knowledge.Project, more ...store.NewVersion) error {
	if len(more) == 0 {
		return nil
	}
	var bytes int64
	for _, nv := range more {
		bytes += nv.Bytes
	}
	if err := in.deps.Store.CheckStored(ctx, project.Workspace, more[0].Accounts, 0, bytes); err != nil {
		return err
	}
	if project.Config.Limits.Bytes == 0 {
		return nil
	}
	replaced := ""
	if len(more) == 1 {
		replaced = more[0].DocumentID
	}
	room, err := in.deps.Store.Room(ctx, p, project.ID, replaced)
	if err != nil {
		return err
	}
	return room.CheckBytes(bytes)
}

// accept puts a version on record and starts its ingestion, unless the newest version of
// the document is the same.
func (in *Intake) accept(ctx context.Context, nv store.NewVersion) (Taken, error) {
	var err error
	if nv.Name, nv.Tags, nv.Metadata, err = in.deps.Recognisers.RedactAttributes(ctx, nv.Enrichment.Privacy, nv.Name, nv.Tags, nv.Metadata); err != nil {
		return Taken{}, err
	}
	d, v, err := in.deps.Store.AddVersion(ctx, nv)
	if err != nil {
		return Taken{}, fmt.Errorf("add document %s: %w", nv.DocumentID, err)
	}
	audit.Made(ctx, v.Document)
	readers := knowledge.Readers{Access: v.Access, ExternalUserID: v.ExternalUserID, ConversationID: v.ConversationID}
	if v.RunID != nv.RunID {
		in.deleteOriginal(ctx, nv)
		in.deps.Log.DebugContext(ctx, "document is unchanged", "workspace", v.Workspace, "document", v.Document, "version", v.Version)
		return Taken{Document: d, Run: v.RunID, Readers: readers, Unchanged: true}, nil
	}
	d.Name, d.Status = v.Name, v.Status // the answer describes what was sent
	if nv.Error == nil {
		in.start(ctx, v, false)
	}
	return Taken{Document: d, Run: v.RunID, Readers: readers}, nil
}

// start starts an ingestion. The version is on record, so the sweep
// repeats a start that fails. It outlasts the caller's context: the document is
// accepted, also if the client leaves.
func (in *Intake) start(ctx context.Context, v store.Version, later bool) {
	log := in.deps.Log.With("workspace", v.Workspace, "document", v.Document, "version", v.Version, "run", v.RunID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	start := in.deps.Workflows.Ingest
	if later {
		start = in.deps.Workflows.IngestLater
	}
	if err := start(ctx, v); err != nil {
		log.WarnContext(ctx, "ingestion starts later", "error", err)
		return
	}
	log.InfoContext(ctx, "document taken in", "bytes", v.Bytes)
}

// before returns what an earlier try of the same request put on record, as it is
// now. Of a document that was removed since, the id is left.
func (in *Intake) before(ctx context.Context, p knowledge.Principal, run Run) (d knowledge.Document, found bool, err error) {
	if !run.Repeated {
		return d, false, nil
	}
	row, err := in.deps.Store.Run(ctx, p, run.ID)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return d, false, nil
	}
	if err != nil {
		return d, false, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	d, err = in.deps.Store.Document(ctx, p, row.Subject)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		d = knowledge.Document{ID: row.Subject, Workspace: row.Workspace, Project: row.Project, Status: knowledge.StatusDeleting}
	case err != nil:
		return d, false, fmt.Errorf("read document %s: %w", row.Subject, err)
	}
	d.Version = row.Version // the one that the request made
	return d, true, nil
}
