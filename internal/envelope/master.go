package envelope

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"gocloud.dev/secrets"

	"github.com/cairn-rag/cairn/internal/secret"
)

// ErrOff means that the instance encrypts nothing, because no master key is configured.
var ErrOff = errors.New("encryption is off: set encryption.key_file or encryption.kms_url")

// Master wraps data keys.
type Master interface {
	// Name tells the key from others without telling it.
	Name() string
	// Wrap encrypts a data key.
	Wrap(ctx context.Context, id string, key []byte) (string, error)
	// Unwrap returns the data key that Wrap encrypted with this master key, or with an earlier
	// one that it still has.
	Unwrap(ctx context.Context, k Key) ([]byte, error)
}

// MasterError means that the configured master key does not open the data keys.
type MasterError struct {
	Master  string // the name of the key that wrapped them
	Present string // the name of the configured one, "" = there is none
	Cause   error
}

// Error implements error.
func (e *MasterError) Error() string {
	if e.Present == "" {
		return fmt.Sprintf("the blobs and histories of this instance are encrypted with the master key %s, and none is configured: "+
			"set encryption.key_file or encryption.kms_url as before", e.Master)
	}
	return fmt.Sprintf("the configured master key %s does not open the data keys of this instance, which the master key %s wrapped (%v): "+
		"put that key back into encryption.key_file, as a second line if another one is to replace it, or set encryption.kms_url as before", e.Present, e.Master, e.Cause)
}

// Unwrap returns the cause.
func (e *MasterError) Unwrap() error { return e.Cause }

// fileMaster is the keys of a file. The first one wraps.
type fileMaster []fileKey

type fileKey struct {
	name string
	box  *secret.Box
}

// ReadKeyFile returns the master key of a file: a line with 32 bytes in base64. Further lines are
// earlier keys, which still open what they wrapped.
func ReadKeyFile(path string) (Master, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read encryption.key_file: %w", err)
	}
	var keys fileMaster
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != secret.KeyBytes {
			return nil, fmt.Errorf("encryption.key_file %s: each line is a key of %d bytes in base64, such as openssl rand -base64 %d prints", path, secret.KeyBytes, secret.KeyBytes)
		}
		box, err := secret.NewBox(key)
		if err != nil {
			return nil, err
		}
		keys = append(keys, fileKey{nameOf(key), box})
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("encryption.key_file %s has no key: openssl rand -base64 %d prints one", path, secret.KeyBytes)
	}
	return keys, nil
}

// nameOf identifies a key without telling it.
func nameOf(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("cairn master key"))
	return "file:" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// Name implements Master.
func (f fileMaster) Name() string { return f[0].name }

// Wrap implements Master.
func (f fileMaster) Wrap(_ context.Context, id string, key []byte) (string, error) {
	return f[0].box.Seal(string(key), "data key "+id)
}

// Unwrap implements Master.
func (f fileMaster) Unwrap(_ context.Context, k Key) ([]byte, error) {
	for _, one := range f {
		if one.name == k.Master {
			key, err := one.box.Open(k.Wrapped, "data key "+k.ID)
			return []byte(key), err
		}
	}
	return nil, errors.New("the key file does not have that key")
}

// service is a key of a key management service.
type service struct {
	name    string
	keeper  *secrets.Keeper
	earlier Master // opens what it wrapped; nil = none is configured
}

// NewService returns the master key of a key management service. earlier is the master key of a
// file that the service replaces, nil if there is none.
func NewService(name string, keeper *secrets.Keeper, earlier Master) Master {
	return service{name, keeper, earlier}
}

// Name implements Master.
func (s service) Name() string { return s.name }

// Wrap implements Master.
func (s service) Wrap(ctx context.Context, id string, key []byte) (string, error) {
	wrapped, err := s.keeper.Encrypt(ctx, append([]byte(id), key...))
	if err != nil {
		return "", fmt.Errorf("ask the key management service: %w", err)
	}
	return base64.StdEncoding.EncodeToString(wrapped), nil
}

// Unwrap implements Master.
func (s service) Unwrap(ctx context.Context, k Key) ([]byte, error) {
	if k.Master != s.name && s.earlier != nil {
		return s.earlier.Unwrap(ctx, k)
	}
	wrapped, err := base64.StdEncoding.DecodeString(k.Wrapped)
	if err != nil {
		return nil, err
	}
	plain, err := s.keeper.Decrypt(ctx, wrapped)
	if err != nil {
		return nil, fmt.Errorf("ask the key management service: %w", err)
	}
	key, ok := strings.CutPrefix(string(plain), k.ID)
	if !ok || len(key) != KeyBytes {
		return nil, errors.New("the key management service returned another key")
	}
	return []byte(key), nil
}
