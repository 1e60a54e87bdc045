package imap

import (
	"context"
	"net"

	"github.com/emersion/go-imap/v2/imapclient"
)

// Plain makes a source speak without TLS.
func Plain(s *Source) *Source {
	s.secure = func(_ context.Context, conn net.Conn) (*imapclient.Client, error) {
		return imapclient.New(conn, nil), nil
	}
	return s
}
