package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// manifestName is the file that makes a folder a backup: JSON lines, a Header, an
	// entry for each file, and the ending with the hash of the lines before it.
	manifestName = "manifest.jsonl"
	// unfinishedName marks the folder of a backup, or of a restore, that has not ended.
	unfinishedName = "unfinished"
	format         = "cairn-backup/1"

	// The mark names what has not ended.
	backingUp = "backup"
	restoring = "restore"
)

// Header is what a manifest says of the whole.
type Header struct {
	Format string    `json:"format"`
	Cairn  string    `json:"cairn"` // version of the command that made it
	Taken  time.Time `json:"taken"` // the moment that it shows
	// SecretKey reports whether the backup has secret.key. Otherwise the key is in the
	// configuration.
	SecretKey bool `json:"secret_key"`
}

// entry is a file of a backup.
type entry struct {
	Name   string `json:"name"` // below its folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// ending is the last line.
type ending struct {
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the lines before, hexadecimal
}

// manifestWriter writes a manifest that counts once it is closed.
type manifestWriter struct {
	path  string
	file  *os.File
	lines *json.Encoder
	out   *bufio.Writer
	sum   hash.Hash
	end   ending
}

func newManifest(dir string, h Header) (*manifestWriter, error) {
	m := &manifestWriter{path: filepath.Join(dir, manifestName), sum: sha256.New()}
	file, err := os.OpenFile(m.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	m.file, m.out = file, bufio.NewWriter(file)
	m.lines = json.NewEncoder(io.MultiWriter(m.out, m.sum))
	return m, m.lines.Encode(h)
}

func (m *manifestWriter) add(e entry) error {
	m.end.Files, m.end.Bytes = m.end.Files+1, m.end.Bytes+e.Bytes
	return m.lines.Encode(e)
}

// close publishes the manifest.
func (m *manifestWriter) close() error {
	m.end.SHA256 = hex.EncodeToString(m.sum.Sum(nil))
	err := errors.Join(m.lines.Encode(m.end), m.out.Flush(), m.file.Sync(), m.file.Close())
	if err != nil {
		return err
	}
	return os.Rename(m.path+".new", m.path)
}

// errUnfinished is the answer to a folder without a whole manifest.
func errUnfinished(dir string) error {
	return fmt.Errorf("%s is not a whole backup: its manifest is missing or cut off; run cairn backup again, into another folder or the same", dir)
}

// readManifest returns the header and the entries of a backup. It compares the manifest
// with its own hash, and no file.
func readManifest(dir string) (h Header, entries []entry, err error) {
	if _, err := os.Stat(filepath.Join(dir, unfinishedName)); err == nil {
		return h, nil, errUnfinished(dir)
	}
	file, err := os.Open(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil, errUnfinished(dir)
	}
	if err != nil {
		return h, nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h.Format == "" {
		return h, nil, errUnfinished(dir)
	}
	if h.Format != format {
		return h, nil, fmt.Errorf("%s has the format %q, and this version of cairn reads %q: use the version that made it (%s)", dir, h.Format, format, h.Cairn)
	}
	sum := sha256.New()
	var last string
	for {
		sum.Write(append(lines.Bytes(), '\n'))
		before := hex.EncodeToString(sum.Sum(nil))
		if !lines.Scan() {
			break
		}
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return h, nil, fmt.Errorf("%s is damaged: %w", manifestName, err)
		}
		if last = before; e.Name == "" {
			var end ending
			if err := json.Unmarshal(lines.Bytes(), &end); err != nil {
				return h, nil, fmt.Errorf("%s is damaged: %w", manifestName, err)
			}
			if end.SHA256 != last || end.Files != len(entries) || lines.Scan() {
				return h, nil, fmt.Errorf("%s in %s is damaged: it is not what the backup wrote; use another backup", manifestName, dir)
			}
			return h, entries, lines.Err()
		}
		if !filepath.IsLocal(filepath.FromSlash(e.Name)) {
			return h, nil, fmt.Errorf("%s in %s names a file outside of it: %q", manifestName, dir, e.Name)
		}
		entries = append(entries, e)
	}
	return h, nil, errors.Join(errUnfinished(dir), lines.Err())
}
