package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

const (
	keyStart    = "cairn_"
	keyLength   = 43 // base62 characters hold 256 bits
	prefixShown = len(keyStart) + 6
	base62      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewKey creates an API key. It returns the key, which is shown once, the hash,
// which is stored, and the first characters, by which people recognise the key.
func NewKey() (plain, hash, prefix string) {
	key := []byte(keyStart)
	var b [64]byte
	for len(key) < len(keyStart)+keyLength {
		_, _ = rand.Read(b[:]) // Read never returns an error
		for _, x := range b {
			// 248 is the largest multiple of 62 in a byte. Skipping larger
			// bytes keeps the characters equally likely.
			if x < 248 && len(key) < len(keyStart)+keyLength {
				key = append(key, base62[x%62])
			}
		}
	}
	plain = string(key)
	return plain, HashKey(plain), plain[:prefixShown]
}

// HashKey returns the hash under which a key is stored. Keys are random, so a
// fast hash without salt is enough.
func HashKey(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}
