package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"gocloud.dev/secrets/awskms"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/envelope"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/namespace"
)

// keysPause is how soon a process learns that another one has rotated the data keys.
const keysPause = 5 * time.Second

// startKeys reads the data keys, with which blobs and histories are encrypted, and follows their
// rotation by other processes.
func (p *platform) startKeys(ctx context.Context) error {
	if err := p.loadKeys(ctx); err != nil || !p.ring.On() {
		return err
	}
	p.background(p.followKeys)
	return nil
}

func (p *platform) loadKeys(ctx context.Context) error {
	err := p.ring.Load(ctx, p.store, p.masterKey)
	if wrong, ok := errors.AsType[*envelope.MasterError](err); ok {
		return ConfigError{wrong.Error()}
	}
	if err != nil {
		return fmt.Errorf("prepare the encryption: %w", err)
	}
	return nil
}

func (p *platform) followKeys(ctx context.Context) {
	ticker := time.NewTicker(keysPause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := p.ring.Refresh(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "the data keys were not read; what this process knows stays in use", "error", err)
		}
	}
}

// masterKey returns the configured master key, nil if there is none. A changed key file counts
// without a restart.
func (p *platform) masterKey(ctx context.Context) (envelope.Master, error) {
	c := p.cfg.Encryption
	var master envelope.Master
	if c.KeyFile != "" {
		file, err := envelope.ReadKeyFile(c.KeyFile)
		if err != nil {
			return nil, err
		}
		master = file
	}
	if c.KMSURL == "" {
		return master, nil
	}
	address, err := url.Parse(c.KMSURL)
	if err != nil {
		return nil, fmt.Errorf("encryption.kms_url: %w", err)
	}
	keeper, err := (&awskms.URLOpener{}).OpenKeeperURL(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("encryption.kms_url: %w", err)
	}
	return envelope.NewService(serviceName(address), keeper, master), nil
}

// serviceName returns the address of a key without its parameters, which do not name it.
func serviceName(address *url.URL) string {
	name := *address
	name.RawQuery = ""
	return name.String()
}

// resealing returns the activity that encrypts the blobs anew.
func (p *platform) resealing() *ingestion.Resealing {
	return &ingestion.Resealing{Blobs: p.blobs, Progress: p.store, Keys: p.ring, Log: p.log}
}

// resealLeft starts the encryption of blobs that are not encrypted with the newest data key:
// encryption was just turned on, or a rotation was cut short before it started.
func (p *platform) resealLeft(ctx context.Context) error {
	if !p.ring.On() {
		return nil
	}
	r, err := p.store.Reseal(ctx)
	if err != nil {
		return fmt.Errorf("read how far the blobs are encrypted: %w", err)
	}
	if r.DataKey == p.ring.Active() && !r.EndedAt.IsZero() {
		return nil
	}
	if err := p.workflow.Reseal(ctx); err != nil {
		p.log.WarnContext(ctx, "the encryption of older blobs did not start; cairn keys rotate, or the next start, starts it", "error", err)
	}
	return nil
}

// encryption implements api.Encryption.
type encryption struct{ p *platform }

// Rotate implements api.Encryption.
func (e encryption) Rotate(ctx context.Context) error {
	err := e.p.ring.Rotate(ctx)
	wrong, isMaster := errors.AsType[*envelope.MasterError](err)
	switch {
	case errors.Is(err, envelope.ErrOff):
		return knowledge.Errorf(knowledge.CodeConflict, "%s, and restart the server", envelope.ErrOff)
	case isMaster:
		return knowledge.Errorf(knowledge.CodeConflict, "%s", wrong).WithCause(err)
	case err != nil:
		return err
	}
	return e.p.workflow.Reseal(ctx)
}

// State implements api.Encryption.
func (e encryption) State(ctx context.Context) (api.EncryptionState, error) {
	keys, err := e.p.store.DataKeys(ctx)
	if err != nil || len(keys) == 0 {
		return api.EncryptionState{}, err
	}
	r, err := e.p.store.Reseal(ctx)
	if err != nil {
		return api.EncryptionState{}, err
	}
	newest := keys[len(keys)-1]
	state := api.EncryptionState{On: true, MasterKey: newest.Master, DataKey: newest.ID, DataKeys: len(keys), RotatedAt: &newest.CreatedAt}
	if !r.BeganAt.IsZero() && r.DataKey == newest.ID {
		state.Blobs = &api.BlobEncryption{Seen: r.Seen, Encrypted: r.Sealed, BeganAt: r.BeganAt, UpdatedAt: r.UpdatedAt, Done: !r.EndedAt.IsZero()}
	}
	return state, nil
}

// Decode implements api.Encryption.
func (e encryption) Decode(payloads []api.Payload) ([]api.Payload, error) {
	encoded := make([]*commonpb.Payload, len(payloads))
	for i, one := range payloads {
		encoded[i] = &commonpb.Payload{Metadata: one.Metadata, Data: one.Data}
	}
	decoded, err := namespace.NewCodec(e.p.ring).Decode(encoded)
	if errors.Is(err, envelope.ErrOpen) {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "a payload is not one that this instance has encrypted").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	plain := make([]api.Payload, len(decoded))
	for i, one := range decoded {
		plain[i] = api.Payload{Metadata: one.GetMetadata(), Data: one.GetData()}
	}
	return plain, nil
}
