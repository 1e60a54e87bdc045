package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// secretStore has the secrets that the API stored.
type secretStore struct{ *database }

// maxSecrets bounds the stored secrets of a workspace.
const maxSecrets = 1000

// Secret is a named secret as it is stored: its value is sealed.
type Secret struct {
	knowledge.Secret

	Sealed   string
	Replaces *time.Time // when the secret that this one may replace was changed last, zero = it may replace none; nil = whatever is there
}

// mayReplace refuses a secret in whose place another one is stored than its author knew. was is
// when that one was changed, zero = there is none.
func (s Secret) mayReplace(was time.Time) error {
	switch {
	case s.Replaces == nil || s.Replaces.Equal(was):
		return nil
	case was.IsZero():
		return knowledge.Errorf(knowledge.CodeConflict, "the secret %q was removed meanwhile: list the secrets again, and store it anew if it is still needed", s.Name)
	}
	return knowledge.Errorf(knowledge.CodeConflict, "the secret %q was changed meanwhile, at %s: list the secrets again, and decide whether to replace it", s.Name, was.Format(time.RFC3339))
}

type secretRow struct {
	bun.BaseModel `bun:"table:secrets,alias:s"`
	Workspace     string `bun:"workspace,pk"`
	Project       string `bun:"project,pk"`
	Name          string `bun:"name,pk"`
	Uses          string `bun:"uses"`
	Hosts         string `bun:"hosts"`
	Sealed        string `bun:"sealed"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
}

func newSecretRow(s Secret) (secretRow, error) {
	row := secretRow{Workspace: s.Workspace, Project: s.Project, Name: s.Name, Sealed: s.Sealed, CreatedAt: micros(s.CreatedAt), UpdatedAt: micros(s.UpdatedAt)}
	var err error
	if row.Uses, err = encode(s.Uses); err != nil {
		return row, err
	}
	row.Hosts, err = encode(s.Hosts)
	return row, err
}

func (r secretRow) secret() (Secret, error) {
	s := Secret{Sealed: r.Sealed, Secret: knowledge.Secret{
		Name: r.Name, Workspace: r.Workspace, Project: r.Project, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}}
	for _, f := range []struct {
		text string
		into any
	}{{r.Uses, &s.Uses}, {r.Hosts, &s.Hosts}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return s, fmt.Errorf("decode secret %s: %w", r.Name, err)
		}
	}
	return s, nil
}

// PutSecret stores a secret of the principal's workspace, or of a project that the
// principal covers, in the place of an earlier one of the same name and owner, whose time
// of creation stays. created reports that there was none. A project that does not exist is
// not found. A workspace has at most 1,000 secrets.
func (s *secretStore) PutSecret(ctx context.Context, p knowledge.Principal, secret Secret) (stored knowledge.Secret, created bool, err error) {
	if err := requireWorkspace(p); err != nil {
		return stored, false, err
	}
	secret.Workspace, secret.UpdatedAt = p.Workspace(), s.orNow(secret.UpdatedAt)
	if !p.CoversProject(secret.Project) {
		return stored, false, notYours(secret.Project)
	}
	err = s.write(ctx, "store secret "+secret.Name, func(ctx context.Context, tx transaction) error {
		if secret.Project != "" {
			if err := requireProject(ctx, tx, secret.Workspace, secret.Project); err != nil {
				return err
			}
		}
		var earlier secretRow
		there, err := secretTable.first(ctx, tx, &earlier, "s.workspace = ? AND s.project = ? AND s.name = ?", secret.Workspace, secret.Project, secret.Name)
		if err != nil {
			return err
		}
		var was time.Time
		if there {
			was = fromMicros(earlier.UpdatedAt)
		}
		if err := secret.mayReplace(was); err != nil {
			return err
		}
		if created, secret.CreatedAt = !there, secret.UpdatedAt; there {
			secret.CreatedAt = fromMicros(earlier.CreatedAt)
		} else if err := roomForSecret(ctx, tx, secret.Workspace); err != nil {
			return err
		}
		row, err := newSecretRow(secret)
		if err != nil {
			return err
		}
		if there {
			return secretTable.update(ctx, tx, &row)
		}
		err = secretTable.insert(ctx, tx, &row)
		if isDuplicate(err) {
			return knowledge.Errorf(knowledge.CodeConflict, "the secret %q is being stored by another request: try again", secret.Name).WithCause(err)
		}
		return err
	})
	return secret.Secret, created, err
}

// notYours refuses a principal of one project what belongs to another one, or to the whole
// workspace.
func notYours(project string) error {
	if project == "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "a key for one project cannot change the secrets of the workspace: set the project")
	}
	return knowledge.NotFound("project", project)
}

func requireProject(ctx context.Context, tx transaction, workspace, project string) error {
	var row projectRow
	there, err := projectTable.first(ctx, tx, &row, "p.workspace = ? AND p.id = ? AND p.removing_run = ''", workspace, project)
	if err == nil && !there {
		err = knowledge.NotFound("project", project)
	}
	return err
}

func roomForSecret(ctx context.Context, tx transaction, workspace string) error {
	count, err := tx.NewSelect().Model((*secretRow)(nil)).Where("s.workspace = ?", workspace).Count(ctx)
	if err == nil && count >= maxSecrets {
		err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d secrets, which is the limit: remove one first", count)
	}
	return err
}

// Secrets lists the stored secrets that the principal may name, by name and project: those
// of its workspace, and of the projects that it covers.
func (s *secretStore) Secrets(ctx context.Context, p knowledge.Principal) ([]knowledge.Secret, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	rows, err := secretTable.all(ctx, s.reader, "s.workspace = ? AND (? = '' OR s.project IN ('', ?)) ORDER BY s.name, s.project", p.Workspace(), p.Project(), p.Project())
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", failure(err))
	}
	return decodeRows(rows, func(r *secretRow) (knowledge.Secret, error) {
		s, err := r.secret()
		return s.Secret, err
	})
}

// RemoveSecret deletes the stored secret of a name and a project, "" = of the
// workspace. One that there is not, or that the principal does not cover, is not found.
func (s *secretStore) RemoveSecret(ctx context.Context, p knowledge.Principal, project, name string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	if !p.CoversProject(project) {
		return notYours(project)
	}
	return s.write(ctx, "remove secret "+name, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewDelete().Model((*secretRow)(nil)).Where("workspace = ? AND project = ? AND name = ?", p.Workspace(), project, name).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("secret", name)
		}
		return err
	})
}

// SecretOf returns the stored secret that a project means by a name: its own, else the secret of
// its workspace. there is false if neither has one.
func (s *secretStore) SecretOf(ctx context.Context, workspace, project, name string) (secret Secret, there bool, err error) {
	var row secretRow
	there, err = secretTable.first(ctx, s.reader, &row, "s.workspace = ? AND s.project IN ('', ?) AND s.name = ? ORDER BY s.project DESC LIMIT 1", workspace, project, name)
	if err != nil {
		return secret, false, fmt.Errorf("read secret %s: %w", name, failure(err))
	}
	if !there {
		return secret, false, nil
	}
	secret, err = row.secret()
	return secret, true, err
}
