package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// membersFolder is the folder in the data folder in which worker processes register:
// a lock file NAME.lock and a folder NAME of temporary files for each. The file
// "lock" is held by a process that changes the list. The file "joined" has two numbers:
// of the workers that have ever joined, and the time of the last step that imports give
// way to.
const membersFolder = "workers"

// members is what a process knows of the others that work on its data folder.
type members struct {
	joined *os.File
	seen   uint64 // workers that had joined when this process looked first
	others bool   // some were alive then
}

// hostMembers lists the workers for the server of a data folder, and deletes what
// workers left that have ended.
func hostMembers(data string) (*members, error) {
	m, release, err := openMembers(data)
	if err != nil {
		return nil, err
	}
	defer release()
	alive, err := sweepMembers(filepath.Join(data, membersFolder))
	m.others = alive > 0
	return m, err
}

// openMembers opens the list of workers, which no other process changes until
// release is called.
func openMembers(data string) (m *members, release func(), err error) {
	dir := filepath.Join(data, membersFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("list the workers: %w", err)
	}
	lock, err := openLocked(filepath.Join(dir, "lock"), unix.LOCK_EX)
	if err != nil {
		return nil, nil, fmt.Errorf("list the workers: %w", err)
	}
	m = &members{}
	if m.joined, err = os.OpenFile(filepath.Join(dir, "joined"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("list the workers: %w", err), lock.Close())
	}
	m.seen = m.count()
	return m, func() { lock.Close() }, nil
}

// count returns how many workers have joined the folder, ever. It takes less than a
// microsecond.
func (m *members) count() uint64 {
	var b [8]byte
	if n, err := m.joined.ReadAt(b[:], 0); err != nil && (n != 0 || !errors.Is(err, io.EOF)) {
		return m.seen + 1 // unknown: there may be others
	}
	return binary.LittleEndian.Uint64(b[:])
}

// shared reports whether another process works on the folder, or has since this one
// looked first.
func (m *members) shared() bool { return m.others || m.count() != m.seen }

// stepOffset is where the time of the last step is in the file "joined".
const stepOffset = 8

// TellStep implements Others of ingestion.Foreground. Without others it writes nothing.
func (m *members) TellStep(at int64) {
	if m.shared() {
		// If it cannot be written, only the batches of other processes do not give way.
		_, _ = m.joined.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(at)), stepOffset)
	}
}

// LastStep implements Others of ingestion.Foreground.
func (m *members) LastStep() int64 {
	var b [8]byte
	if _, err := m.joined.ReadAt(b[:], stepOffset); err != nil {
		return 0 // none was told
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

func (m *members) close() error { return m.joined.Close() }

// member is this process as a worker on the data folder of a server.
type member struct {
	*members
	temporary string // folder of its temporary files
	lock      *os.File
}

// joinMembers registers this process as a worker.
func joinMembers(data string) (*member, error) {
	list, release, err := openMembers(data)
	if err != nil {
		return nil, err
	}
	defer release()
	dir := filepath.Join(data, membersFolder)
	m := &member{members: list}
	m.others = true // the server
	if _, err = sweepMembers(dir); err == nil {
		m.temporary, err = os.MkdirTemp(dir, "worker-")
	}
	if err == nil {
		m.lock, err = openLocked(m.temporary+".lock", unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		_, err = m.joined.WriteAt(binary.LittleEndian.AppendUint64(nil, m.seen+1), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("join the data folder: %w", err), m.close())
	}
	return m, nil
}

// leave deletes the temporary files of this process, which the list then no longer
// names.
func (m *member) leave() error {
	err := errors.Join(os.RemoveAll(m.temporary), os.Remove(m.lock.Name()))
	return errors.Join(err, m.lock.Close(), m.close())
}

// sweepMembers deletes what workers left that have ended, and returns how many are
// alive. The caller holds the lock of the list.
func sweepMembers(dir string) (alive int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		lock, err := openLocked(path+".lock", unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			alive++
			continue
		}
		if err != nil {
			return alive, err
		}
		err = errors.Join(os.RemoveAll(path), os.Remove(lock.Name()), lock.Close())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return alive, err
		}
	}
	return alive, nil
}

// openLocked opens a file and locks it. The kernel releases the lock when the file is
// closed or the process ends.
func openLocked(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	return f, nil
}
