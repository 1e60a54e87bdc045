package imap

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The bounds of sessions.
const (
	maxSessions  = 3 // of a source at a time: services allow few for a user
	idleTime     = 30 * time.Second
	answerTime   = 2 * time.Minute
	maxAnswer    = 128 << 20 // bytes of an answer that is no message
	defaultTLS   = "993"
	defaultPlain = "143"
)

// Dial connects to an address of a user.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// session is a connection that has signed in and opened the mailbox.
type session struct {
	conn   *metered
	client *imapclient.Client
	opened *goimap.SelectData
	used   bool        // before: what opened says may be old
	expire *time.Timer // closes it while nobody uses it
}

// metered is a connection that fails after a number of bytes.
type metered struct {
	net.Conn
	left atomic.Int64
}

// errTooLong is the error of an answer that is too long.
var errTooLong = errors.New("the answer is too long")

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if m.left.Add(-int64(n)) < 0 {
		return 0, errTooLong
	}
	return n, err
}

// acquire returns a session that nobody uses. The caller calls release or drop.
func (s *Source) acquire(ctx context.Context) (*session, error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		one := s.takeIdle()
		if one == nil {
			break
		}
		select {
		case <-one.client.Closed(): // by the server, meanwhile
			_ = one.client.Close()
			continue
		default:
		}
		one.conn.left.Store(maxAnswer)
		return one, nil
	}
	one, err := s.open(ctx)
	if err != nil {
		<-s.slots
		return nil, s.failure(err)
	}
	return one, nil
}

// takeIdle returns a session that is kept, nil if there is none.
func (s *Source) takeIdle() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) > 0 {
		one := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if one.expire.Stop() {
			return one
		}
	}
	return nil
}

// release keeps a session for the next use.
func (s *Source) release(one *session) {
	s.mu.Lock()
	one.used = true
	one.expire = time.AfterFunc(idleTime, func() { _ = one.client.Close() }) // nobody waits for it
	s.idle = append(s.idle, one)
	s.mu.Unlock()
	<-s.slots
}

// drop ends a session.
func (s *Source) drop(one *session) {
	_ = one.client.Close() // it may be broken
	<-s.slots
}

// with calls f with a session, three times at most.
func (s *Source) with(ctx context.Context, f func(*session) error) error {
	return source.Retry(ctx, func() error {
		if err := s.gate.Wait(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		one, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = one.conn.Close() })
		if err = f(one); err == nil && stop() {
			s.gate.Answered()
			s.release(one)
			return nil
		}
		stop()
		s.drop(one)
		return s.failure(err)
	})
}

// open connects, signs in and opens the mailbox. A kept token that is refused is renewed once.
func (s *Source) open(ctx context.Context) (*session, error) {
	one, err := s.connect(ctx)
	if errors.Is(err, errRenew) {
		one, err = s.connect(ctx)
	}
	return one, err
}

func (s *Source) connect(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	host, port, _ := serverOf(s.follow.Options.URL)
	raw, err := s.dial(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	one := &session{conn: &metered{Conn: raw}}
	one.conn.left.Store(maxAnswer)
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	if one.client, err = s.secure(ctx, one.conn); err != nil {
		_ = raw.Close()
		return nil, err
	}
	if err = one.client.WaitGreeting(); err == nil {
		err = s.signIn(ctx, one.client)
	}
	if err == nil {
		err = s.examine(one)
	}
	if err != nil {
		_ = one.client.Close()
		return nil, err
	}
	return one, nil
}

// serverOf returns the host and the port of a server, and whether TLS begins with the
// connection.
func serverOf(address string) (host, port string, implicit bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", false
	}
	if port = u.Port(); port == "" {
		port = defaultPlain
		if u.Scheme == "imaps" {
			port = defaultTLS
		}
	}
	return u.Hostname(), port, u.Scheme == "imaps"
}

// secure begins TLS. A server that does not offer it is refused.
func secure(ctx context.Context, address string, conn net.Conn) (*imapclient.Client, error) {
	host, _, implicit := serverOf(address)
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if implicit {
		over := tls.Client(conn, config)
		if err := over.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		return imapclient.New(over, nil), nil
	}
	client, err := imapclient.NewStartTLS(conn, &imapclient.Options{TLSConfig: config})
	if _, refused := errors.AsType[*goimap.Error](err); refused {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the server does not offer TLS at this port: use an address with imaps")
	}
	return client, err
}

// signIn signs in with a password, or with a bearer token.
func (s *Source) signIn(ctx context.Context, client *imapclient.Client) (err error) {
	user, secret, kept := s.follow.Options.Username, s.follow.Credentials, false
	if s.tokens != nil {
		if secret, kept, err = s.tokens.bearer(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.follow.Options.Auth == authToken:
		err = client.Authenticate(token{user, secret})
	case client.Caps().Has(goimap.CapLoginDisabled):
		err = client.Authenticate(sasl.NewPlainClient("", user, secret))
	default:
		err = client.Login(user, secret).Wait()
	}
	if e, refused := errors.AsType[*goimap.Error](err); refused && !isSlow(e) && e.Code != goimap.ResponseCodeUnavailable {
		if kept {
			s.tokens.forget(secret)
			return errRenew
		}
		return knowledge.Errorf(knowledge.CodeForbidden, "the server refused the user %q: check options.username and the secret of the connection, which is an app password or, with auth xoauth2, an access token that has not expired", user)
	}
	return err
}

// token signs in by XOAUTH2.
type token struct{ user, secret string }

// Start implements sasl.Client.
func (t token) Start() (string, []byte, error) {
	return "XOAUTH2", []byte("user=" + t.user + "\x01auth=Bearer " + t.secret + "\x01\x01"), nil
}

// Next implements sasl.Client: the challenge says why the token is refused, and wants an
// empty answer.
func (token) Next([]byte) ([]byte, error) { return []byte{}, nil }

// examine opens the mailbox for reading.
func (s *Source) examine(one *session) (err error) {
	one.opened, err = one.client.Select(s.mailbox, &goimap.SelectOptions{ReadOnly: true, CondStore: one.client.Caps().Has(goimap.CapCondStore)}).Wait()
	if e, refused := errors.AsType[*goimap.Error](err); refused && !isSlow(e) && e.Code != goimap.ResponseCodeUnavailable && e.Code != goimap.ResponseCodeServerBug {
		return knowledge.Errorf(knowledge.CodeNotFound, "there is no mailbox %q, or the user may not read it; check scope.mailbox of the sync", s.mailbox)
	}
	return err
}
