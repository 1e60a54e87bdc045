package audit

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// The kinds of checkpoints.
const (
	// KindCheckpoint is what the chain had at a time. The newest of each day stays.
	KindCheckpoint = "checkpoint"
	// KindCut is what the retention removed: all up to an entry. Only the newest stays.
	KindCut = "cut"
)

// Checkpoint is a signed statement of what the chain of a workspace had at an entry.
type Checkpoint struct {
	Kind      string    `json:"kind" enum:"checkpoint,cut" doc:"cut: the retention removed the entries up to this one"`
	Workspace string    `json:"workspace"`
	Seq       int64     `json:"seq" doc:"The newest entry at the time, or the last one that was removed"`
	Hash      string    `json:"hash" doc:"The hash of that entry"`
	At        time.Time `json:"at"`
	Signature string    `json:"signature" doc:"Ed25519 over the other fields (docs/governance.md)"`
}

// Day is the day of a checkpoint, "" for a cut.
func (c Checkpoint) Day() string {
	if c.Kind == KindCut {
		return ""
	}
	return c.At.UTC().Format(time.DateOnly)
}

// signed returns what the signature covers.
func (c Checkpoint) signed() []byte {
	data, err := json.Marshal([]any{"cairn audit", c.Kind, c.Workspace, c.Seq, c.Hash, c.At.UnixMicro()})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return data
}

// Signer signs checkpoints with the key of the instance.
type Signer struct{ key ed25519.PrivateKey }

// NewSigner returns the Signer of an instance, whose key is made of its secret key.
func NewSigner(secretKey []byte) Signer {
	mac := hmac.New(sha256.New, secretKey)
	mac.Write([]byte("cairn audit checkpoints"))
	return Signer{ed25519.NewKeyFromSeed(mac.Sum(nil))}
}

// Sign returns a checkpoint with its signature.
func (s Signer) Sign(c Checkpoint) Checkpoint {
	c.At = c.At.UTC().Truncate(time.Microsecond)
	c.Signature = hex.EncodeToString(ed25519.Sign(s.key, c.signed()))
	return c
}

// PublicKey returns the key that checks signatures, in hexadecimal.
func (s Signer) PublicKey() string {
	return hex.EncodeToString(s.key.Public().(ed25519.PublicKey)) // of that type by its documentation
}

// SignedBy reports whether the holder of a public key, in hexadecimal, signed the checkpoint.
func (c Checkpoint) SignedBy(publicKey string) bool {
	key, err := hex.DecodeString(publicKey)
	signature, wrong := hex.DecodeString(c.Signature)
	return err == nil && wrong == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, c.signed(), signature)
}
