package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// journalRoom is how much of the file is written over again and again: blocks that are there
// need no change of the file system's own records, so a commit waits for one write.
const journalRoom = 1 << 20

// Position is a place in a journal.
type Position struct {
	Round  int64 `json:"round"` // how often the file was begun
	Offset int64 `json:"offset"`
}

// Journal is a file that keeps rows until the database has them, so that readers do not wait
// for the one writer of SQLite. A line is the JSON of its round and its rows. It is safe for
// concurrent use by one process.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	end  Position
	rows []Row // that the database has not
}

// line is what one commit writes.
type line struct {
	Round int64 `json:"round"`
	Rows  []Row `json:"rows"`
}

// OpenJournal opens the journal, or creates it. done is the position up to which the
// database has its rows.
func OpenJournal(path string, done Position) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the audit: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal of the audit: %w", err)
	}
	j := &Journal{file: file}
	if err := errors.Join(j.read(done), j.makeRoom()); err != nil {
		return nil, errors.Join(fmt.Errorf("read the journal of the audit: %w", err), file.Close())
	}
	return j, nil
}

// read takes the rows behind a position. What follows the last whole line is of an earlier
// round, or of a commit that nobody was told of.
func (j *Journal) read(done Position) error {
	reader := bufio.NewReader(j.file)
	for first := true; ; first = false {
		data, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var l line
		if json.Unmarshal(data, &l) != nil || !first && l.Round != j.end.Round {
			break
		}
		j.end.Round = l.Round
		j.end.Offset += int64(len(data))
		if l.Round > done.Round || l.Round == done.Round && j.end.Offset > done.Offset {
			j.rows = append(j.rows, l.Rows...)
		}
	}
	if len(j.rows) == 0 { // a new round, so that no line of it is at a position that was done
		j.end = Position{Round: max(j.end.Round, done.Round) + 1}
	}
	return nil
}

// makeRoom fills the file with spaces up to journalRoom.
func (j *Journal) makeRoom() error {
	info, err := j.file.Stat()
	if err != nil || info.Size() >= journalRoom {
		return err
	}
	if _, err := j.file.WriteAt([]byte(strings.Repeat(" ", int(journalRoom-info.Size()))), info.Size()); err != nil {
		return err
	}
	return j.file.Sync()
}

// Append implements Sink.
func (j *Journal) Append(_ context.Context, rows []Row) error {
	if err := j.Buffer(rows); err != nil {
		return err
	}
	if err := syncData(j.file); err != nil {
		return fmt.Errorf("write the journal of the audit: %w", err)
	}
	return nil
}

// Buffer implements Buffered.
func (j *Journal) Buffer(rows []Row) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(rows) == 0 {
		return nil
	}
	data, err := json.Marshal(line{j.end.Round, rows})
	if err != nil {
		return fmt.Errorf("encode rows of the audit: %w", err)
	}
	data = append(data, '\n')
	if _, err := j.file.WriteAt(data, j.end.Offset); err != nil {
		return fmt.Errorf("write the journal of the audit: %w", err)
	}
	j.end.Offset += int64(len(data))
	j.rows = append(j.rows, rows...)
	return nil
}

// Take returns the rows that the database has not, and the position behind them.
func (j *Journal) Take() ([]Row, Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.rows), j.end
}

// Done notes that the database has the first n rows, which Take returned. A journal without
// rows begins its next round at the beginning of the file.
func (j *Journal) Done(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rows = slices.Clone(j.rows[n:])
	if len(j.rows) == 0 && j.end.Offset > journalRoom/2 {
		j.end = Position{Round: j.end.Round + 1}
	}
}

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}
