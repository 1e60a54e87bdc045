package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type keysRotateCmd struct {
	clientFlags
	Show bool `help:"Only show which keys are in use, and how far the blobs are."`
	Wait bool `help:"Wait until every blob is encrypted with the new key."`
}

// Help returns the command's details and an example.
func (keysRotateCmd) Help() string {
	return "Blobs and the histories of workflows are encrypted with data keys, which the master key of the configuration (encryption.key_file, encryption.kms_url) wraps. " +
		"This makes a new data key, with which the server encrypts from now on, and wraps all data keys with the master key as it is configured now: to replace a key file, put the new key " +
		"before the old one, rotate, and remove the old one. Older blobs are encrypted anew in the background. The server is not restarted. Needs the instance's admin key.\n\n" +
		"Example:\n\n    (openssl rand -base64 32; cat master.key) > new.key && mv new.key master.key\n    cairn keys rotate --wait"
}

// resealCheck is how often --wait asks how far the blobs are.
const resealCheck = time.Second

// Run rotates the keys.
func (r keysRotateCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	ask := c.RotateEncryption
	if r.Show {
		ask = c.Encryption
	}
	state, err := ask(ctx)
	for err == nil && r.Wait && state.On && (state.Blobs == nil || !state.Blobs.Done) {
		select {
		case <-time.After(resealCheck):
		case <-ctx.Done():
			return ctx.Err()
		}
		state, err = c.Encryption(ctx)
	}
	if err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, state)
	}
	_, err = fmt.Fprint(a.stdout, encryptionText(state))
	return err
}

// encryptionText tells which keys are in use, and how far the blobs are.
func encryptionText(s client.Encryption) string {
	if !s.On {
		return "Nothing is encrypted: set encryption.key_file or encryption.kms_url.\n"
	}
	text := fmt.Sprintf("data key    %s, of %s\nmaster key  %s\n", s.DataKey, terminal.Count(s.DataKeys, "data key"), s.MasterKey)
	switch b := s.Blobs; {
	case b == nil:
		return text + "blobs       older ones are about to be encrypted with it\n"
	case b.Done:
		return text + fmt.Sprintf("blobs       all are encrypted with it; %d were encrypted anew\n", b.Encrypted)
	default:
		return text + fmt.Sprintf("blobs       %d looked at, %d encrypted anew\n", b.Seen, b.Encrypted)
	}
}
