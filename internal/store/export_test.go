package store

import "context"

// Exec runs a statement on the connection that writes, so that tests can set
// the database limits.
func (s *Store) Exec(ctx context.Context, statement string) error {
	_, err := s.writer.ExecContext(ctx, statement)
	return err
}

// Downgrade takes the tables back to what an older version of them was.
func (s *Store) Downgrade(ctx context.Context, version int64) error {
	provider, err := s.migrations()
	if err == nil {
		_, err = provider.DownTo(ctx, version)
	}
	return err
}

// The forms in which lines and pages are stored.
var (
	EncodeLines = encodeLines
	DecodeLines = decodeLines
	DecodePages = decodePages
)
