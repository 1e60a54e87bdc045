package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// maxDamaged bounds how many damaged files an error names.
const maxDamaged = 20

// Verified is a backup whose files are what its manifest says.
type Verified struct {
	Result
	dir     string
	entries []entry
}

// Verify compares every file of a backup with its manifest. Its error names those that
// differ.
func Verify(ctx context.Context, dir string) (Verified, error) {
	h, entries, err := readManifest(dir)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Result: Result{Header: h, Files: len(entries)}, dir: dir, entries: entries}
	var damaged []string
	for _, want := range entries {
		got, err := hashFile(ctx, dir, want.Name)
		switch {
		case ctx.Err() != nil:
			return Verified{}, ctx.Err()
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("%s (%v)", want.Name, errors.Unwrap(err)))
		case got.Bytes != want.Bytes:
			damaged = append(damaged, fmt.Sprintf("%s (%d bytes instead of %d)", want.Name, got.Bytes, want.Bytes))
		case got.SHA256 != want.SHA256:
			damaged = append(damaged, want.Name+" (other bytes)")
		}
		v.Bytes += want.Bytes
	}
	if len(damaged) > 0 {
		more := ""
		if n := len(damaged) - maxDamaged; n > 0 {
			damaged, more = damaged[:maxDamaged], fmt.Sprintf(" and %d more", n)
		}
		return Verified{}, fmt.Errorf("the backup %s is damaged: %s%s; nothing was written; use another backup", dir, strings.Join(damaged, ", "), more)
	}
	return v, nil
}

// Restore writes the backup into data, which is empty, does not exist, or has what a killed
// Restore left. Names of keep may be there. Until it returns nil, Unfinished reports true of
// data.
func (v Verified) Restore(ctx context.Context, data string, keep ...string) (Result, error) {
	if err := claim(data, restoring, keep...); err != nil {
		return Result{}, fmt.Errorf("prepare the data folder: %w", err)
	}
	for _, want := range v.entries {
		got, err := copyFile(ctx, filepath.Join(v.dir, filepath.FromSlash(want.Name)), data, want.Name)
		if err != nil {
			return Result{}, fmt.Errorf("restore %s: %w", want.Name, err)
		}
		if got != want {
			return Result{}, fmt.Errorf("restore %s: its bytes have changed since they were verified; run cairn restore again", want.Name)
		}
	}
	if err := release(data); err != nil {
		return Result{}, fmt.Errorf("end the restore: %w", err)
	}
	return v.Result, nil
}
