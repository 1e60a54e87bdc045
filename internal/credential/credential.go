package credential

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Config is the part of the configuration that concerns secrets.
type Config struct {
	// Secrets are the secrets of the configuration. Defaults to none.
	Secrets []knowledge.Secret
	// Value returns the value of one of Secrets. It is required if there are any.
	Value func(name string) ([]byte, error)
	// AmbientIdentity lists the workspaces whose imports use the server's own cloud
	// identity. Defaults to none.
	AmbientIdentity []string
}

// Store keeps the secrets that were stored by the API.
type Store interface {
	// SecretOf returns the secret that a project means by a name: its own, else the secret of
	// its workspace. there is false if neither has one.
	SecretOf(ctx context.Context, workspace, project, name string) (secret store.Secret, there bool, err error)
}

// Sealer seals and opens stored values.
type Sealer interface {
	// Seal encrypts a value for a context, without which it cannot be opened.
	Seal(plain, context string) (string, error)
	// Open returns a sealed value, or secret.ErrOpen.
	Open(sealed, context string) (string, error)
}

// Book has the named secrets. It is safe for concurrent use.
type Book struct {
	cfg    Config
	store  Store
	sealer Sealer
}

// New returns a Book.
func New(cfg Config, s Store, sealer Sealer) *Book { return &Book{cfg: cfg, store: s, sealer: sealer} }

// Usable reports whether a project may use a secret. Another's secret, one without the use
// or the host, and one that does not exist are all the same.
func (b *Book) Usable(ctx context.Context, name string, n knowledge.SecretNeed) (bool, error) {
	s, _, err := b.find(ctx, name, n)
	return s.Allows(n), err
}

// Value returns the value of a secret. stored reports that a user stored it, so that its
// value is no more to be trusted than its user. A secret that Usable does not report is
// CodeInvalid, one whose value cannot be read is CodeUnavailable.
func (b *Book) Value(ctx context.Context, name string, n knowledge.SecretNeed) (value []byte, stored bool, err error) {
	s, stored, err := b.find(ctx, name, n)
	switch {
	case err != nil:
		return nil, false, err
	case !s.Allows(n):
		return nil, false, knowledge.MissingSecret(name, n)
	case stored:
		value, err := b.open(s)
		return value, true, err
	}
	if value, err = b.cfg.Value(name); err != nil {
		return nil, false, (&knowledge.Error{
			Code: knowledge.CodeUnavailable, Retryable: true, Message: knowledge.Messagef("the secret %q cannot be read: an operator checks secrets.%s", name, name),
		}).WithCause(err)
	}
	return value, false, nil
}

// find returns the secret that a project means by a name. The configuration comes before
// what is stored. Without a secret, it returns the zero one, which allows nothing.
func (b *Book) find(ctx context.Context, name string, n knowledge.SecretNeed) (secret store.Secret, stored bool, err error) {
	if s, ok := b.configured(name, n.Workspace, n.Project); ok {
		return store.Secret{Secret: s}, false, nil
	}
	secret, stored, err = b.store.SecretOf(ctx, n.Workspace, n.Project, name)
	if err != nil {
		return store.Secret{}, false, fmt.Errorf("look up a secret: %w", err)
	}
	return secret, stored, nil
}

func (b *Book) configured(name, workspace, project string) (knowledge.Secret, bool) {
	i := slices.IndexFunc(b.cfg.Secrets, func(s knowledge.Secret) bool { return s.Name == name && s.BelongsTo(workspace, project) })
	if i < 0 {
		return knowledge.Secret{}, false
	}
	return b.cfg.Secrets[i], true
}

// Configured lists the secrets of the configuration that a principal may name: the secrets of
// its workspace, and of the projects that it covers.
func (b *Book) Configured(p knowledge.Principal) []knowledge.Secret {
	var list []knowledge.Secret
	for _, s := range b.cfg.Secrets {
		if s.Workspace == p.Workspace() && s.Workspace != "" && (s.Project == "" || p.CoversProject(s.Project)) {
			list = append(list, s)
		}
	}
	return list
}

// AmbientIdentity reports whether imports of a workspace may use the server's own cloud
// identity.
func (b *Book) AmbientIdentity(workspace string) bool {
	return workspace != "" && slices.Contains(b.cfg.AmbientIdentity, workspace)
}

// Seal encrypts the value of a secret that is stored.
func (b *Book) Seal(s knowledge.Secret, value string) (string, error) {
	sealed, err := b.sealer.Seal(value, sealContext(s))
	if err != nil {
		return "", fmt.Errorf("seal secret %s: %w", s.Name, err)
	}
	return sealed, nil
}

func (b *Book) open(s store.Secret) ([]byte, error) {
	value, err := b.sealer.Open(s.Sealed, sealContext(s.Secret))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the secret %q cannot be opened with the key of this instance: store it again", s.Name).WithCause(err)
	}
	return []byte(value), nil
}

// sealContext is the context for which a secret is sealed: no other owner's row opens it.
func sealContext(s knowledge.Secret) string {
	return "named secret " + s.Workspace + "/" + s.Project + "/" + s.Name
}
