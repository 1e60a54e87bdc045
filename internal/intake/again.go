package intake

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Retry resumes the failed ingestion of a document at its failed stage, or makes a step
// that waits for its next try try at once. It returns the document as it is then, and
// the run: the given one, or the run of the ingestion that waits.
func (in *Intake) Retry(ctx context.Context, p knowledge.Principal, run Run, document string) (d knowledge.Document, id string, err error) {
	if before, found, err := in.before(ctx, p, run); found || err != nil {
		return before, run.ID, err
	}
	v, err := in.deps.Store.RetryVersion(ctx, p, document, run.ID, in.deps.Now())
	if err != nil {
		return d, "", fmt.Errorf("retry document %s: %w", document, err)
	}
	if v.RunID == run.ID {
		in.start(ctx, v, run.Later)
	} else if err := in.deps.Workflows.RetryNow(ctx, v.Workspace, v.Document); err != nil {
		return d, "", err
	}
	if d, err = in.deps.Store.Document(ctx, p, document); err != nil {
		return d, "", fmt.Errorf("read document %s: %w", document, err)
	}
	return d, v.RunID, nil
}

// Reingest makes a new version of a document from the original of its newest
// version, with the attributes and the override of that version and the project's
// configuration of today. The password of an encrypted file is not kept: such a file
// must be uploaded again. A document whose original was never stored is CodeConflict.
func (in *Intake) Reingest(ctx context.Context, p knowledge.Principal, run Run, document string) (knowledge.Document, error) {
	if before, found, err := in.before(ctx, p, run); found || err != nil {
		return before, err
	}
	d, err := in.deps.Store.Document(ctx, p, document)
	if err != nil {
		return d, fmt.Errorf("read document %s: %w", document, err)
	}
	project, err := in.deps.Store.Project(ctx, p, d.Project)
	if err != nil {
		return d, fmt.Errorf("read project %s: %w", d.Project, err)
	}
	d, v, err := in.deps.Store.ReingestVersion(ctx, p, d.ID, run.ID, project.Config, in.deps.Now())
	if err != nil {
		return d, fmt.Errorf("reingest document %s: %w", document, err)
	}
	d.Name, d.Status = v.Name, v.Status // the answer describes the new version
	in.start(ctx, v, run.Later)
	return d, nil
}
