package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Encryption is the encryption of what the instance stores.
type Encryption interface {
	// State returns which keys are in use and how far the blobs are.
	State(ctx context.Context) (EncryptionState, error)
	// Rotate makes a new data key, wraps all of them with the present master key, and starts the
	// encryption of the blobs with the new one. Without a master key it is CodeConflict.
	Rotate(ctx context.Context) error
	// Decode returns payloads of Temporal's histories decrypted. Those that this instance has not
	// encrypted are CodeInvalid; what is not encrypted stays as it is.
	Decode(payloads []Payload) ([]Payload, error)
}

// EncryptionState is which keys encrypt what the instance stores.
type EncryptionState struct {
	On        bool            `json:"on" doc:"Whether blobs and the histories of workflows are encrypted"`
	MasterKey string          `json:"master_key,omitempty" doc:"The name of the master key that wraps the data keys; it does not tell the key"`
	DataKey   string          `json:"data_key,omitempty" doc:"The id of the data key that encrypts what is stored now"`
	DataKeys  int             `json:"data_keys" doc:"The number of data keys, with the earlier ones, which open what they encrypted"`
	RotatedAt *time.Time      `json:"rotated_at,omitempty" doc:"When the newest data key was made"`
	Blobs     *BlobEncryption `json:"blobs,omitempty" doc:"How far the older blobs are encrypted with the newest data key"`
}

// BlobEncryption is how far the blobs are encrypted with the newest data key.
type BlobEncryption struct {
	Done      bool      `json:"done" doc:"Every blob is encrypted with the newest data key"`
	Seen      int64     `json:"seen" doc:"Blobs that the present pass has looked at"`
	Encrypted int64     `json:"encrypted" doc:"Blobs that were encrypted anew"`
	BeganAt   time.Time `json:"began_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Payload is a payload of a workflow's history, as Temporal's UI sends it to a codec server.
type Payload struct {
	_        struct{}          `json:"-" additionalProperties:"true"`
	Metadata map[string][]byte `json:"metadata,omitempty" doc:"Values in base64"`
	Data     []byte            `json:"data,omitempty" doc:"In base64"`
}

type payloadsBody struct {
	Payloads []Payload `json:"payloads" maxItems:"10000"`
}

type payloadsInput struct {
	Preserve string `query:"preserveStorageRefs" doc:"Sent by Temporal's UI; payloads that are stored elsewhere are returned as they are"`
	Body     payloadsBody
}

type payloadsOutput struct{ Body payloadsBody }

type encryptionOutput struct{ Body EncryptionState }

// maxPayloads bounds the body of a request to decode: a history of Temporal has at most 50 MB.
const maxPayloads = 80 << 20

// encryptionRoutes holds the routes of the instance's encryption.
type encryptionRoutes struct{ encryption Encryption }

func (er *encryptionRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-encryption", Method: http.MethodGet, Path: "/encryption", Summary: "Read which keys encrypt what is stored", Tags: []string{"server"},
		Description: "Which keys encrypt blobs and the histories of workflows, and how far older blobs are encrypted. Needs the instance's admin key.",
	}}, func(ctx context.Context, _ knowledge.Principal, _ *struct{}) (*encryptionOutput, error) {
		state, err := er.encryption.State(ctx)
		return &encryptionOutput{state}, err
	})
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "rotate-encryption", Method: http.MethodPost, Path: "/encryption/rotate", Summary: "Rotate the keys that encrypt what is stored", Tags: []string{"server"},
		Description: "Makes a new data key, wraps all data keys with the present master key, and encrypts older blobs with the new data key in the background. encryption.key_file is read again. Nothing is interrupted. Needs the instance's admin key.",
	}}, func(ctx context.Context, _ knowledge.Principal, _ *struct{}) (*encryptionOutput, error) {
		if err := er.encryption.Rotate(ctx); err != nil {
			return nil, err
		}
		state, err := er.encryption.State(ctx)
		return &encryptionOutput{state}, err
	})
	edge.Handle(e, edge.Route{Limit: maxPayloads, Anew: true, Operation: huma.Operation{
		OperationID: "decode-payloads", Method: http.MethodPost, Path: "/codec/decode", Summary: "Decrypt payloads of workflows", Tags: []string{"server"},
		Description: "The codec server of Temporal's UI and command: decrypts payloads of histories, which may be of every workspace. Needs the instance's admin key.",
	}}, func(_ context.Context, _ knowledge.Principal, in *payloadsInput) (*payloadsOutput, error) {
		decoded, err := er.encryption.Decode(in.Body.Payloads)
		return &payloadsOutput{payloadsBody{decoded}}, err
	})
}
