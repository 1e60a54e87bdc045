package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

// The names of the stores in a backup and, by default, in a data folder.
const (
	DatabaseName   = "cairn.db"
	IndexName      = "index.db"
	BlobsName      = "blobs"
	TemporalName   = "temporal"
	AdminKeyName   = "admin.key"
	SecretKeyName  = "secret.key"
	historyName    = "temporal.db"
	visibilityName = "visibility.db"
)

// Stores is where the stores of an instance are.
type Stores struct {
	Database, Index     string // SQLite files
	Blobs, Temporal     string // folders
	AdminKey, SecretKey string // files that need not be there
	// InUse reports whether a process may write to the stores meanwhile.
	InUse bool
}

// Result counts what was copied.
type Result struct {
	Header
	Files int
	Bytes int64
}

// ErrRunning is the reason why a copy beside a running server is refused.
var ErrRunning = errors.New("stop the server (SIGTERM), run cairn backup again, and start it: unfinished work resumes")

// Make writes a backup of the stores into dir, which is empty, does not exist, or has what
// a killed Make left. Until it returns nil, dir is no backup.
func Make(ctx context.Context, s Stores, dir, version string) (r Result, err error) {
	if err := claim(dir, backingUp); err != nil {
		return r, fmt.Errorf("prepare the folder of the backup: %w", err)
	}
	c := &copying{Stores: s, dir: dir}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.open(ctx); err != nil {
		return r, err
	}
	if err := c.cut(ctx); err != nil {
		return r, err
	}
	r.Header = Header{Format: format, Cairn: version, Taken: c.taken, SecretKey: exists(s.SecretKey)}
	m, err := newManifest(dir, r.Header)
	if err != nil {
		return r, fmt.Errorf("write the manifest: %w", err)
	}
	if err := errors.Join(c.copyAll(ctx, m.add), m.close()); err != nil {
		return r, fmt.Errorf("copy the stores: %w", err)
	}
	if err := release(dir); err != nil {
		return r, fmt.Errorf("end the backup: %w", err)
	}
	r.Files, r.Bytes = m.end.Files, m.end.Bytes
	return r, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// copying is one run of Make.
type copying struct {
	Stores
	dir string

	history, visibility, database, index, small *file

	frozen *blob.Frozen // nil = nobody writes
	taken  time.Time
}

// storeFile is a SQLite file of an instance.
type storeFile struct {
	name string // in the backup
	path string
	to   **file
}

func (c *copying) files() []storeFile {
	return []storeFile{
		// The server's own files come first, because they hold up their writers least.
		{TemporalName + "/" + historyName, filepath.Join(c.Temporal, historyName), &c.history},
		{TemporalName + "/" + visibilityName, filepath.Join(c.Temporal, visibilityName), &c.visibility},
		{DatabaseName, c.Database, &c.database},
		{IndexName, c.Index, &c.index},
		{BlobsName + "/" + filepath.Base(blob.SmallFile("")), blob.SmallFile(c.Blobs), &c.small},
	}
}

// open opens the stores, and links the large blobs if somebody may remove them.
func (c *copying) open(ctx context.Context) error {
	for _, f := range c.files() {
		var err error
		if *f.to, err = openFile(ctx, f.path); err != nil {
			return err
		}
	}
	if !c.InUse {
		return nil
	}
	var err error
	c.frozen, err = blob.Freeze(ctx, c.Blobs)
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.New("another cairn backup of this instance is running: wait for its end")
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("the blobs cannot be copied while the server writes (%w): %w", err, ErrRunning)
	}
	return err
}

func (c *copying) cut(ctx context.Context) error {
	rest := func(ctx context.Context) error {
		c.taken = time.Now().UTC()
		if c.frozen == nil {
			return nil
		}
		return c.frozen.Fix(ctx, holdLimit)
	}
	err := cut(ctx, []*file{c.database, c.index, c.small}, []*file{c.history, c.visibility}, rest)
	switch {
	case errors.Is(err, blob.ErrTooMany):
		return fmt.Errorf("there are too many blobs for a copy beside the server: %w", ErrRunning)
	case isBusy(err):
		return fmt.Errorf("the stores were never still (%w): try again, or: %w", err, ErrRunning)
	case err != nil:
		return fmt.Errorf("read the stores: %w", err)
	}
	return nil
}

// copyAll copies everything, and tells add of each file.
func (c *copying) copyAll(ctx context.Context, add func(entry) error) error {
	for _, f := range c.files() {
		e, err := c.copyDatabase(ctx, *f.to, f.name)
		if err != nil {
			return err
		}
		if err := add(e); err != nil {
			return err
		}
	}
	names, err := c.largeBlobs(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		from := filepath.Join(c.Blobs, name)
		if c.frozen != nil {
			from = c.frozen.Path(name)
		}
		e, err := copyFile(ctx, from, c.dir, BlobsName+"/"+filepath.ToSlash(name))
		if err != nil {
			return err
		}
		if err := add(e); err != nil {
			return err
		}
	}
	return c.copyKeys(ctx, add)
}

func (c *copying) copyDatabase(ctx context.Context, f *file, name string) (entry, error) {
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return entry{}, err
	}
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return entry{}, err
	}
	if err := f.copyTo(ctx, path); err != nil {
		return entry{}, errors.Join(err, made.Close())
	}
	if err := errors.Join(made.Sync(), made.Close()); err != nil {
		return entry{}, err
	}
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + beside); err == nil && info.Size() > 0 {
			return entry{}, fmt.Errorf("%s%s was left beside the copy", name, beside)
		}
	}
	return hashFile(ctx, c.dir, name)
}

func (c *copying) largeBlobs(ctx context.Context) (names []string, err error) {
	if c.frozen != nil {
		return c.frozen.Names(), nil
	}
	for name, err := range blob.LargeFiles(ctx, c.Blobs) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (c *copying) copyKeys(ctx context.Context, add func(entry) error) error {
	for name, path := range map[string]string{AdminKeyName: c.AdminKey, SecretKeyName: c.SecretKey} {
		if !exists(path) {
			continue
		}
		e, err := copyFile(ctx, path, c.dir, name)
		if err != nil {
			return err
		}
		if err := add(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) close() (err error) {
	for _, f := range c.files() {
		if *f.to != nil {
			err = errors.Join(err, (*f.to).close())
		}
	}
	if c.frozen != nil {
		err = errors.Join(err, c.frozen.Close())
	}
	return err
}
