package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/blob"
)

// temporary is the folder of copies that live for one step or request.
func (p *platform) temporary() string {
	if p.tmp != "" {
		return p.tmp
	}
	return filepath.Join(p.cfg.Data, "tmp")
}

// hostFolder finds out whether workers of another start are alive.
func (p *platform) hostFolder(context.Context) (err error) {
	if p.members, err = hostMembers(p.cfg.Data); err != nil {
		return err
	}
	p.onClose(p.members.close)
	p.foreground.Others = p.members
	return nil
}

// joinFolder registers this process as one that works on the data folder.
func (p *platform) joinFolder(context.Context) error {
	if err := os.MkdirAll(p.cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	m, err := joinMembers(p.cfg.Data)
	if err != nil {
		return err
	}
	p.members, p.tmp = m.members, m.temporary
	p.foreground.Others = m.members
	p.onClose(m.leave)
	return nil
}

// emptyTemporary deletes the copies that a killed process left: text that was
// removed from the stores must not survive there. This process holds the lock of
// the folder.
func (p *platform) emptyTemporary(context.Context) error {
	if err := os.RemoveAll(p.temporary()); err != nil {
		return fmt.Errorf("empty the folder for temporary files: %w", err)
	}
	if err := os.Mkdir(p.temporary(), 0o700); err != nil {
		return fmt.Errorf("make the folder for temporary files: %w", err)
	}
	if p.cfg.Blob.Bucket() {
		return nil
	}
	return blob.Thaw(urlPath(p.cfg.Blob.URL)) // of a backup
}

// writeEndpoints tells other processes the addresses of this one.
func (p *platform) writeEndpoints(context.Context) error { return p.ends.Write(p.cfg.Data) }
