package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// prepareInstance makes the default workspace and project and the admin key,
// where they are not there yet.
func (p *platform) prepareInstance(ctx context.Context) error {
	now := time.Now().UTC()
	err := p.store.CreateWorkspace(ctx, store.Workspace{ID: "default", Name: "default", CreatedAt: now})
	if err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
		return fmt.Errorf("make the default workspace: %w", err)
	}
	if err == nil {
		project := knowledge.Project{ID: "default", Workspace: "default", Name: "default", CreatedAt: now, UpdatedAt: now}
		if err := p.store.CreateProject(ctx, project); err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
			return fmt.Errorf("make the default project: %w", err)
		}
	}
	if _, err := p.signingSecret(ctx); err != nil {
		return err
	}
	return p.prepareAdminKey(ctx, now)
}

// prepareAdminKey stores the instance's admin key.
func (p *platform) prepareAdminKey(ctx context.Context, now time.Time) error {
	if kept, err := p.hasAdminKey(ctx); err != nil || kept {
		return err
	}
	key, err := p.adminKey()
	if err != nil {
		return err
	}
	p.instanceKey = key
	err = p.store.ReplaceInstanceKey(ctx, store.Key{
		ID: knowledge.DerivedID("key", "instance"), Workspace: "default", Name: "instance", Hash: access.HashKey(key),
		Prefix: key[:min(len(key), 10)], Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Instance: true, CreatedAt: now,
	})
	if err != nil {
		return fmt.Errorf("store the admin key: %w", err)
	}
	return nil
}

// hasAdminKey reports whether the database has an admin key that is to stay: nobody
// gave this process one, and cairn migrate may run in another folder each time.
func (p *platform) hasAdminKey(ctx context.Context) (bool, error) {
	if _, err := os.Stat(p.ends.KeyFile); !p.keepAdminKey || p.cfg.AdminKey != "" || err == nil {
		return false, nil
	}
	there, err := p.store.HasInstanceKey(ctx)
	if err != nil {
		return false, fmt.Errorf("look up the admin key: %w", err)
	}
	return there, nil
}

// adminKey is the configured key, or the key in the key file, which the first start
// writes.
func (p *platform) adminKey() (string, error) {
	if p.cfg.AdminKey != "" {
		return p.cfg.AdminKey, writeKey(p.ends.KeyFile, p.cfg.AdminKey)
	}
	data, err := os.ReadFile(p.ends.KeyFile)
	if key := strings.TrimSpace(string(data)); err == nil && key != "" {
		if err := config.CheckAdminKey(key); err != nil {
			return "", fmt.Errorf("%s: %w; remove the file to have a new one made", p.ends.KeyFile, err)
		}
		return key, os.Chmod(p.ends.KeyFile, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the admin key: %w", err)
	}
	p.drawnAdminKey, _, _ = access.NewKey()
	return p.drawnAdminKey, writeKey(p.ends.KeyFile, p.drawnAdminKey)
}

// writeKey replaces a key file in one step, readable by its owner alone.
func writeKey(path, key string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.WriteString(key + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that matters is the one before
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// syncFolder returns when new names in a folder survive a loss of power.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// signingSecret signs the tokens of eventsUrl; it stays the same over restarts.
func (p *platform) signingSecret(ctx context.Context) ([]byte, error) {
	secret, err := p.store.Setting(ctx, "signing_secret", func() string {
		plain, _, _ := access.NewKey()
		return plain
	})
	if err != nil {
		return nil, fmt.Errorf("read the signing secret: %w", err)
	}
	return []byte(secret), nil
}

func searchAttributes() map[string]enumspb.IndexedValueType {
	attributes := map[string]enumspb.IndexedValueType{}
	for _, name := range []string{
		workflows.AttributeWorkspace, workflows.AttributeProject, workflows.AttributeDocument, workflows.AttributeStage, workflows.AttributeStatus,
	} {
		attributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	return attributes
}

// urlPath is the file or folder of a sqlite:/// or file:/// address that the configuration
// checked.
func urlPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		_, path, _ := strings.Cut(address, "://")
		return path
	}
	return u.Path
}
