package envelope

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Each sealed value begins with a header: the magic, the kind, the id of the data key and a
// salt. The key of the value is derived from the data key, the salt and the context of the
// value, so each key encrypts one value only.
const (
	magic      = "\x00cairn\xe1"
	idBytes    = 16
	saltBytes  = 32
	pieceExtra = 28 // nonce and tag
	// KeyBytes is the length of a data key.
	KeyBytes = 32
	// HeaderBytes is the length of the header.
	HeaderBytes = len(magic) + 1 + idBytes + saltBytes
)

// The kinds of sealed values.
const (
	kindPiece  = 1 // AES-256-GCM over the whole
	kindStream = 2 // packages of DARE 2.0, of which each opens without the others
)

// ErrOpen is returned for a value that was changed, or was sealed with a key that this
// instance does not have, or for another context.
var ErrOpen = errors.New("the encrypted value does not open with a key of this instance")

// keyID names a data key in headers.
type keyID [idBytes]byte

// header is the beginning of a sealed value.
type header struct {
	kind byte
	key  keyID
	salt [saltBytes]byte
}

func newHeader(kind byte, key keyID) header {
	h := header{kind: kind, key: key}
	_, _ = rand.Read(h.salt[:]) // Read never returns an error
	return h
}

// append adds the bytes of the header to b.
func (h header) append(b []byte) []byte {
	b = append(append(b, magic...), h.kind)
	b = append(b, h.key[:]...)
	return append(b, h.salt[:]...)
}

// parseHeader returns false for bytes that do not begin with a header.
func parseHeader(data []byte) (h header, ok bool) {
	if len(data) < HeaderBytes || !bytes.HasPrefix(data, []byte(magic)) {
		return h, false
	}
	h.kind = data[len(magic)]
	rest := data[len(magic)+1:]
	copy(h.key[:], rest)
	copy(h.salt[:], rest[idBytes:])
	return h, h.kind == kindPiece || h.kind == kindStream
}

// derive returns the key of one value.
func (h header) derive(dataKey []byte, valueContext string) ([]byte, error) {
	return hkdf.Key(sha256.New, dataKey, h.salt[:], "cairn envelope\n"+valueContext, KeyBytes)
}

// piece returns the cipher of one value of kindPiece.
func (h header) piece(dataKey []byte, valueContext string) (cipher.AEAD, error) {
	key, err := h.derive(dataKey, valueContext)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts a value for a context: the name of the place where it is kept, without which
// it does not open. Without a data key it returns the value itself.
func (r *Ring) Seal(plain []byte, valueContext string) ([]byte, error) {
	active := r.sealing()
	if active == nil {
		return plain, nil
	}
	h := newHeader(kindPiece, active.id)
	aead, err := h.piece(active.key, valueContext)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	sealed := h.append(make([]byte, 0, HeaderBytes+len(plain)+aead.Overhead()))
	return aead.Seal(sealed, nil, plain, sealed), nil
}

// Unseal returns the value that Seal encrypted for the same context, or ErrOpen. A value that is
// not sealed is returned as it is.
func (r *Ring) Unseal(ctx context.Context, data []byte, valueContext string) ([]byte, error) {
	h, sealed := parseHeader(data)
	if !sealed {
		return data, nil
	}
	if h.kind != kindPiece {
		return nil, ErrOpen
	}
	key, err := r.keyOf(ctx, h.key)
	if err != nil {
		return nil, err
	}
	aead, err := h.piece(key, valueContext)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	plain, err := aead.Open(nil, nil, data[HeaderBytes:], data[:HeaderBytes])
	if err != nil {
		return nil, ErrOpen
	}
	if plain == nil {
		plain = []byte{}
	}
	return plain, nil
}

// IsSealed reports whether a value begins with a header.
func IsSealed(data []byte) bool {
	_, sealed := parseHeader(data)
	return sealed
}

// IsCurrent reports whether a value that begins with head need not be sealed again: it is
// sealed with the newest data key, or there is none.
func (r *Ring) IsCurrent(head []byte) bool {
	active := r.sealing()
	if active == nil {
		return true
	}
	h, sealed := parseHeader(head)
	return sealed && h.key == active.id
}
