package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-rag/cairn/internal/backup"
	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/secret"
)

// createSecretKey writes the key that seals the secrets of users to secret.key in the
// data folder, unless it is there or in the configuration. It is not in the database, so a copy of the database
// opens nothing.
func (p *platform) createSecretKey(context.Context) error {
	if p.cfg.SecretKey != "" {
		return nil
	}
	_, err := os.Stat(p.secretKeyFile())
	if errors.Is(err, os.ErrNotExist) {
		err = writeKey(p.secretKeyFile(), base64.StdEncoding.EncodeToString(secret.NewKey()))
	}
	if err != nil {
		return fmt.Errorf("make the key for secrets: %w", err)
	}
	return nil
}

func (p *platform) secretKeyFile() string { return filepath.Join(p.cfg.Data, backup.SecretKeyName) }

// startSecrets reads the key that seals the secrets of users.
func (p *platform) startSecrets(context.Context) (err error) {
	text, from := p.cfg.SecretKey, "secret_key"
	if text == "" {
		from = p.secretKeyFile()
		data, err := os.ReadFile(from)
		if errors.Is(err, os.ErrNotExist) {
			return ConfigError{fmt.Sprintf("there is no key for secrets: set secret_key, or put the file secret.key of cairn migrate into the data folder %s", p.cfg.Data)}
		}
		if err != nil {
			return fmt.Errorf("read the key for secrets: %w", err)
		}
		text = string(data)
	}
	if p.secretKey, err = base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err != nil {
		return fmt.Errorf("%s is not a key: put back the key of the first start", from)
	}
	if p.secrets, err = secret.NewBox(p.secretKey); err != nil {
		return fmt.Errorf("%s: %w; put back the key of the first start", from, err)
	}
	return nil
}

// credentials returns the named secrets of the configuration and of the database.
func (p *platform) credentials() *credential.Book {
	return credential.New(credential.Config{
		Secrets: p.cfg.NamedSecrets(), Value: p.cfg.Secret, AmbientIdentity: p.cfg.Import.AmbientIdentity,
	}, p.store, p.secrets)
}
