// Package secret seals the short secrets that users give: the secret of a webhook,
// the password of a document. Sealed values may be stored and logged; only the
// holder of the instance's key opens them. Keys of Cairn's own API are no business
// of this package: they are stored as hashes.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeyBytes is the length of a key.
const KeyBytes = 32

// version stands before each sealed value and names how it was sealed.
const version = "v1:"

// ErrOpen is returned for a value that was changed, or was sealed with another key
// or for another context.
var ErrOpen = errors.New("the sealed value does not open with this instance's key")

// Box seals and opens values with one key, by AES-256-GCM. It is safe for
// concurrent use.
type Box struct {
	aead cipher.AEAD
}

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // Read never returns an error
	return key
}

// NewBox returns a Box with a key of KeyBytes bytes.
func NewBox(key []byte) (*Box, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("the key for secrets has %d bytes, not %d", len(key), KeyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("prepare the key for secrets: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("prepare the key for secrets: %w", err)
	}
	return &Box{aead}, nil
}

// Seal encrypts a value for a context: the id of the thing that it belongs to,
// without which Open fails. Two seals of one value differ.
func (b *Box) Seal(plain, context string) (string, error) {
	sealed := b.aead.Seal(nil, nil, []byte(plain), []byte(context))
	return version + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns the value that Seal encrypted for the same context, or ErrOpen.
func (b *Box) Open(sealed, context string) (string, error) {
	encoded, ok := strings.CutPrefix(sealed, version)
	if !ok {
		return "", ErrOpen
	}
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", ErrOpen
	}
	plain, err := b.aead.Open(nil, nil, data, []byte(context))
	if err != nil {
		return "", ErrOpen
	}
	return string(plain), nil
}
