package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
)

// database is what the types of all resources share: the connections and the clock.
type database struct {
	clock
	id     string // of this opening, as the owner of leases
	engine engine
	writer *pool
	reader *pool
	log    *slog.Logger
	woken  chan<- WebhookQueue
	full   atomic.Bool // a write found the disk full, and TryWrite none since
}

// engine is what SQLite and PostgreSQL do in different ways, beside their SQL.
type engine interface {
	// transact runs work in a transaction that behaves as if it were the only one:
	// what it reads is still true when it commits. work may run several times, and
	// must begin each time from the same values.
	transact(ctx context.Context, writer *pool, work func(ctx context.Context, tx bun.Tx) error) error
	// ping returns an error if the database cannot be read or cannot be written. It
	// writes nothing, and waits for no writer.
	ping(ctx context.Context, reader *pool) error
	// alone reports whether no other process has a transaction that called it with the same
	// name. It is true for one process of several, until the transaction ends.
	alone(ctx context.Context, tx transaction, name string) (bool, error)
	// erase is EraseDeleted.
	erase(ctx context.Context) error
	// close is called before the connections are closed.
	close()
}

// write runs work in a transaction in which what it reads is still true when it
// writes, as if no other one ran beside it. Errors are wrapped with doing. work must
// use the store through tx alone. It may run several times before one run is
// committed, and must begin each time from the same values.
func (s *database) write(ctx context.Context, doing string, work func(ctx context.Context, tx transaction) error) error {
	var woken []WebhookQueue
	err := s.engine.transact(ctx, s.writer, func(ctx context.Context, tx bun.Tx) error {
		woken = nil
		return audited(ctx, transaction{tx, s.clock, s.writer, &woken}, work)
	})
	if err != nil {
		if isDiskFull(err) {
			s.full.Store(true)
		}
		return fmt.Errorf("%s: %w", doing, failure(err))
	}
	audit.Opened(ctx)
	for _, q := range woken {
		select {
		case s.woken <- q:
		default: // PendingQueues lists it
		}
	}
	s.writer.prepareWanted(ctx)
	return nil
}

// count is write for counters of requests, which the audit does not take for the change that a
// request makes.
func (s *database) count(ctx context.Context, doing string, work func(ctx context.Context, tx transaction) error) error {
	return s.write(audit.Without(ctx), doing, work)
}

// audited does work in a transaction, which gets the row of the request that asks for it, if
// it is the request's first: the audit has a row exactly for the changes that are committed.
func audited(ctx context.Context, tx transaction, work func(ctx context.Context, tx transaction) error) error {
	row, opens := audit.Opening(ctx)
	if err := work(ctx, tx); err != nil || !opens {
		return err
	}
	return putPendingAudit(ctx, tx, row, true)
}

// Ping reports whether the database can be read and written. It writes nothing and
// takes no lock that a writer holds, so a long write does not make the store look
// broken.
func (s *database) Ping(ctx context.Context) error {
	if err := s.engine.ping(ctx, s.reader); err != nil {
		return fmt.Errorf("ping database: %w", failure(err))
	}
	return nil
}

// Full reports whether a write found the disk of the database full. Once it did, it reports
// so until TryWrite succeeds: small writes may find room while others do not.
func (s *database) Full() bool { return s.full.Load() }

// TryWrite writes a row, and returns the error with which a question or an upload would be
// refused. It is for a database that was full.
func (s *database) TryWrite(ctx context.Context) error {
	row := settingRow{Name: "last_try", Value: s.now().Format(time.RFC3339)}
	err := s.write(ctx, "try to write", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewInsert().Model(&row).On("CONFLICT (name) DO UPDATE").Set("value = EXCLUDED.value").Exec(ctx)
		return err
	})
	if err == nil {
		s.full.Store(false)
	}
	return err
}

// EraseDeleted returns once the bytes of rows that were deleted stand nowhere in the
// files of the database. It does nothing on PostgreSQL, which overwrites its files in
// its own time.
func (s *database) EraseDeleted(ctx context.Context) error { return failure(s.engine.erase(ctx)) }

// clock returns the time for writes that name none.
type clock func() time.Time

// now is the time of the clock.
func (c clock) now() time.Time { return c().UTC() }

// orNow returns t, or the time of the clock for the zero time.
func (c clock) orNow(t time.Time) time.Time {
	if t.IsZero() {
		return c.now()
	}
	return t.UTC()
}
