package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-rag/cairn/internal/secret"
)

// createSecretKey writes the key that seals the secrets of users to secret.key in the
// data folder, unless it is there. It is not in the database, so a copy of the database
// opens nothing.
func (p *platform) createSecretKey(context.Context) error {
	_, err := os.Stat(p.secretKeyFile())
	if errors.Is(err, os.ErrNotExist) {
		err = writeKey(p.secretKeyFile(), base64.StdEncoding.EncodeToString(secret.NewKey()))
	}
	if err != nil {
		return fmt.Errorf("make the key for secrets: %w", err)
	}
	return nil
}

func (p *platform) secretKeyFile() string { return filepath.Join(p.cfg.Data, "secret.key") }

// startSecrets reads the key that seals the secrets of users.
func (p *platform) startSecrets(context.Context) error {
	path := p.secretKeyFile()
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the key for secrets: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	if err != nil {
		return fmt.Errorf("%s is not a key: put back the file that the first start wrote", path)
	}
	if p.secrets, err = secret.NewBox(key); err != nil {
		return fmt.Errorf("%s: %w; put back the file that the first start wrote", path, err)
	}
	return nil
}
