package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CheckpointKey is where a checkpoint is kept outside of the database: a file for each day of
// a workspace, and one for what the retention removed.
func CheckpointKey(c Checkpoint) string {
	return CheckpointPrefix(c.Workspace) + strings.TrimSuffix(c.Kind+"-"+c.Day(), "-") + ".json"
}

// CheckpointPrefix is where the checkpoints of a workspace are.
func CheckpointPrefix(workspace string) string { return workspace + "/audit/" }

// Folder keeps checkpoints as files of a folder. It implements Outside.
type Folder string

// Put implements Outside.
func (f Folder) Put(_ context.Context, c Checkpoint) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(string(f), filepath.FromSlash(CheckpointKey(c)))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store a checkpoint of the audit: %w", err)
	}
	if err := replace(path, append(data, '\n')); err != nil {
		return fmt.Errorf("store a checkpoint of the audit: %w", err)
	}
	return nil
}

// replace writes a file in the place of another, so that a crash leaves one of them.
func replace(path string, data []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), "next-*")
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // a leftover is read by nobody
	}
	return err
}

// List implements Outside.
func (f Folder) List(_ context.Context, workspace string) ([]Checkpoint, error) {
	paths, err := filepath.Glob(filepath.Join(string(f), filepath.FromSlash(CheckpointPrefix(workspace)), "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var list []Checkpoint
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var c Checkpoint
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("read the checkpoint %s: %w", path, err)
		}
		list = append(list, c)
	}
	return list, nil
}
