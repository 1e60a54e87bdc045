package edge

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
)

// sealedType stands before the media type of a stored answer that is sealed.
const sealedType = "sealed:"

// seal encrypts an answer that holds a secret (a new API key) for the hours in
// which the same request gets it again. The key is made of the caller's
// Credentials, which are not stored, so the database alone does not open it.
func seal(r *http.Request, plain []byte) ([]byte, error) {
	aead, err := sealer(r)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, plain, nil), nil
}

// unseal opens what seal made, given the same credentials.
func unseal(r *http.Request, box []byte) ([]byte, error) {
	aead, err := sealer(r)
	if err != nil {
		return nil, err
	}
	if len(box) < aead.NonceSize() {
		return nil, errors.New("a sealed answer is too short")
	}
	return aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], nil)
}

func sealer(r *http.Request) (cipher.AEAD, error) {
	c := Credentials(r)
	key := sha256.Sum256([]byte("cairn idempotent answer\n" + cmp.Or(c.Key, c.Bearer, c.Session)))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
