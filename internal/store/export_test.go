package store

import "context"

// Exec runs a statement on the connection that writes, so that tests can set
// the database limits.
func (s *Store) Exec(ctx context.Context, statement string) error {
	_, err := s.writer.ExecContext(ctx, statement)
	return err
}

// The forms in which lines and pages are stored.
var (
	EncodeLines = encodeLines
	DecodeLines = decodeLines
	DecodePages = decodePages
)
