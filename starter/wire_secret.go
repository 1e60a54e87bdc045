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

// startSecrets reads the key that seals the secrets of users, from secret.key in
// the data folder. The first start writes it. It is not in the database, so a copy
// of the database opens nothing.
func (p *platform) startSecrets(context.Context) error {
	path := filepath.Join(p.cfg.Data, "secret.key")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		data = []byte(base64.StdEncoding.EncodeToString(secret.NewKey()))
		err = writeKey(path, string(data))
	}
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
