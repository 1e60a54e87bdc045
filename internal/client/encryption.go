package client

import (
	"context"
	"net/http"
	"time"
)

// Encryption is which keys encrypt what the instance stores.
type Encryption struct {
	On        bool            `json:"on"`
	MasterKey string          `json:"master_key,omitempty"`
	DataKey   string          `json:"data_key,omitempty"`
	DataKeys  int             `json:"data_keys"`
	RotatedAt *time.Time      `json:"rotated_at,omitempty"`
	Blobs     *BlobEncryption `json:"blobs,omitempty"`
}

// BlobEncryption is how far the blobs are encrypted with the newest data key.
type BlobEncryption struct {
	Done      bool      `json:"done"`
	Seen      int64     `json:"seen"`
	Encrypted int64     `json:"encrypted"`
	BeganAt   time.Time `json:"began_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}

// Encryption returns which keys encrypt what the instance stores.
func (c *Client) Encryption(ctx context.Context) (Encryption, error) {
	var state Encryption
	_, err := c.call(ctx, http.MethodGet, "/encryption", nil, nil, &state)
	return state, err
}

// RotateEncryption makes a new data key.
func (c *Client) RotateEncryption(ctx context.Context) (Encryption, error) {
	var state Encryption
	_, err := c.call(ctx, http.MethodPost, "/encryption/rotate", nil, nil, &state)
	return state, err
}
