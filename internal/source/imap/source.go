package imap

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/throttle"
)

// authToken is the way to sign in with a bearer token.
const authToken = "xoauth2"

// inbox is the mailbox that every user has.
const inbox = "INBOX"

// Source is a mailbox. It implements source.Source.
type Source struct {
	dial    Dial
	secure  func(ctx context.Context, conn net.Conn) (*imapclient.Client, error)
	gate    *throttle.Gate
	follow  source.Follow
	tokens  *tokens // nil = the secret is no grant
	mailbox string
	size    int
	before  state
	slots   chan struct{} // one for each session in use

	mu   sync.Mutex
	idle []*session
}

// CheckConnection refuses settings that no server can be reached with.
func CheckConnection(f source.Follow) error {
	var wrong []knowledge.Field
	refuse := func(name, message string) {
		wrong = append(wrong, knowledge.Field{Location: "body." + name, Message: message})
	}
	u, err := url.Parse(f.Options.URL)
	if err != nil || u.Scheme != "imap" && u.Scheme != "imaps" || u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		refuse("options.url", "must be the address of the server: imaps://imap.example.com, or imap:// with STARTTLS")
	}
	if f.Options.Username == "" {
		refuse("options.username", "must be the user who signs in")
	}
	if f.Options.Auth != "" && f.Options.Auth != authToken && f.Options.Auth != "password" {
		refuse("options.auth", "must be password or xoauth2")
	}
	if f.Credentials == "" {
		refuse("secret", "must be the password of the user, or with auth xoauth2 an access token, or JSON by which the service gives one")
	}
	if f.Options.Auth == authToken {
		if _, _, err := readGrant(f.Credentials); err != nil {
			wrong = append(wrong, knowledge.AsError(err).Fields...)
		}
	}
	return knowledge.InvalidFields(wrong)
}

// CheckScope refuses the name of a mailbox that cannot be one.
func CheckScope(f source.Follow) error {
	if knowledge.HasControl(f.Scope.Mailbox) {
		return knowledge.Invalid("body.scope.mailbox", "must be the name of a mailbox, such as INBOX or Archive/2026")
	}
	return nil
}

// New returns the source of a mailbox, whose sessions wait at a gate. dial must be one that may
// reach addresses which users give, as client, which asks for access tokens.
func New(f source.Follow, dial Dial, gate *throttle.Gate, client *http.Client) *Source {
	s := &Source{
		dial: dial, gate: gate, follow: f, mailbox: cmp.Or(f.Scope.Mailbox, inbox), size: cmp.Or(f.PageSize, source.MaxPage), slots: make(chan struct{}, maxSessions),
	}
	s.secure = func(ctx context.Context, conn net.Conn) (*imapclient.Client, error) {
		return secure(ctx, f.Options.URL, conn)
	}
	if g, there, err := readGrant(f.Credentials); f.Options.Auth == authToken && there && err == nil {
		s.tokens = &tokens{grant: g, http: client}
	}
	_ = json.Unmarshal([]byte(f.Cursor), &s.before) // an empty cursor knows nothing
	return s
}

// Try reports whether the server accepts the user, and has the mailbox.
func Try(ctx context.Context, f source.Follow, dial Dial, gate *throttle.Gate, client *http.Client) error {
	return New(f, dial, gate, client).with(ctx, func(*session) error { return nil })
}

// message is the body of a message. It implements io.ReadCloser.
type message struct {
	io.Reader
	left    int64
	source  *Source
	session *session
	fetch   *imapclient.FetchCommand
	stop    func() bool
}

// Read implements io.Reader. A message that ends early is an error.
func (m *message) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.left -= int64(n); err == io.EOF && m.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// smallRest is how much of a message is read to its end, so that its session can be used again.
const smallRest = 1 << 20

// Close implements io.Closer.
func (m *message) Close() error {
	if m.left <= smallRest && m.fetch.Close() == nil && m.stop() {
		m.source.release(m.session)
		return nil
	}
	m.stop()
	_ = m.session.conn.Close() // the rest of the message does not come any more
	_ = m.fetch.Close()
	m.source.drop(m.session)
	return nil // what was read is complete
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	if known != "" && known == o.ETag {
		return nil, o, source.ErrUnchanged
	}
	var validity uint32
	var uid goimap.UID
	if _, err := fmt.Sscanf(o.Ref, "%d:%d", &validity, &uid); err != nil {
		return nil, o, source.NotFound("message", o.Path())
	}
	var r io.ReadCloser
	err := source.Retry(ctx, func() error {
		if err := s.gate.Wait(ctx); err != nil {
			return err
		}
		one, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		if one.opened.UIDValidity != validity { // the numbers are of other messages now
			s.release(one)
			return source.NotFound("message", o.Path())
		}
		r, err = s.body(ctx, one, uid)
		return err
	})
	if err != nil {
		return nil, o, err
	}
	return r, o, nil
}

// body opens a message. It ends the session if it fails.
func (s *Source) body(ctx context.Context, one *session, uid goimap.UID) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	m := &message{source: s, session: one, stop: context.AfterFunc(ctx, func() { _ = one.conn.Close() })}
	one.conn.left.Store(maxMessage)
	m.fetch = one.client.Fetch(goimap.UIDSetNum(uid), &goimap.FetchOptions{UID: true, BodySection: []*goimap.FetchItemBodySection{{Peek: true}}})
	if data := m.fetch.Next(); data != nil {
		for item := data.Next(); item != nil; item = data.Next() {
			if body, ok := item.(imapclient.FetchItemDataBodySection); ok && body.Literal != nil {
				m.Reader, m.left = body.Literal, body.Literal.Size()
				return source.NewBody(m, cancel), nil
			}
		}
	}
	err := m.fetch.Close()
	if err == nil {
		err = knowledge.Errorf(knowledge.CodeNotFound, "the message was removed since the mailbox was listed")
	}
	m.stop()
	cancel()
	s.drop(one)
	return nil, s.failure(err)
}

// maxMessage bounds the bytes of a message.
const maxMessage = 1 << 30
