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

// NewKey draws an API key: the key itself, which is shown once, the hash that is
// stored, and the first characters, by which people tell keys apart.
func NewKey() (plain, hash, prefix string) {
	key := []byte(keyStart)
	var b [64]byte
	for len(key) < len(keyStart)+keyLength {
		_, _ = rand.Read(b[:]) // never fails: it ends the program rather
		for _, x := range b {
			// 248 is the largest multiple of 62 in a byte, so that each
			// character is as likely as another.
			if x < 248 && len(key) < len(keyStart)+keyLength {
				key = append(key, base62[x%62])
			}
		}
	}
	plain = string(key)
	return plain, HashKey(plain), plain[:prefixShown]
}

// HashKey gives the hash under which a key is stored. Keys are random, so a fast
// hash without salt is enough.
func HashKey(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}
