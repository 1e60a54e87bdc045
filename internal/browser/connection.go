package browser

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxMessage bounds a message of Chromium, in bytes.
	maxMessage = 64 << 20
	// writeTime bounds the write of a command.
	writeTime = 5 * time.Second
)

// lenient reads what pages say, which need not be well-formed text.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// message is a message of the DevTools protocol: a command, its answer or an event.
type message struct {
	ID      int64            `json:"id,omitzero"`
	Session target.SessionID `json:"sessionId,omitzero"`
	Method  string           `json:"method,omitzero"`
	Params  jsontext.Value   `json:"params,omitzero"`
	Result  jsontext.Value   `json:"result,omitzero"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitzero"`
}

// connection speaks the DevTools protocol with Chromium. Each message is JSON that ends
// with a zero byte.
type connection struct {
	out     *os.File
	writing sync.Mutex

	mu       sync.Mutex
	last     int64
	waiting  map[int64]chan message
	sessions map[target.SessionID]func(message) // get the events; must not block
	closed   chan struct{}
}

// connect returns a connection over two pipes.
func connect(in io.Reader, out *os.File) *connection {
	c := &connection{out: out, waiting: map[int64]chan message{}, sessions: map[target.SessionID]func(message){}, closed: make(chan struct{})}
	go c.receive(in)
	return c
}

// receive hands messages to those who wait for them until the pipe ends.
func (c *connection) receive(in io.Reader) {
	defer close(c.closed)
	messages := bufio.NewScanner(in)
	messages.Buffer(make([]byte, 64<<10), maxMessage)
	messages.Split(func(data []byte, _ bool) (int, []byte, error) {
		if end := bytes.IndexByte(data, 0); end >= 0 {
			return end + 1, data[:end], nil
		}
		return 0, nil, nil
	})
	for messages.Scan() {
		var m message
		if err := json.Unmarshal(bytes.Clone(messages.Bytes()), &m, lenient); err != nil {
			return
		}
		c.mu.Lock()
		answer, event := c.waiting[m.ID], c.sessions[m.Session]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && event != nil:
			event(m)
		}
	}
}

// listen lets events get the events of a session until stop is called.
func (c *connection) listen(id target.SessionID, events func(message)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[id] = events
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.sessions, id)
	}
}

// session is the part of a connection that commands one page; "" = the browser. It
// implements cdp.Executor.
type session struct {
	*connection
	id target.SessionID
}

// errEnded reports that Chromium ended.
var errEnded = errors.New("the browser has ended")

// Execute sends a command and waits for its answer.
func (s session) Execute(ctx context.Context, method string, params, result any) error {
	m := message{Session: s.id, Method: method}
	if params != nil {
		data, err := json.Marshal(params)
		if err != nil {
			return fmt.Errorf("encode %s: %w", method, err)
		}
		m.Params = data
	}
	answer := make(chan message, 1)
	s.mu.Lock()
	s.last++
	m.ID = s.last
	s.waiting[m.ID] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, m.ID)
	}()
	if err := s.send(m); err != nil {
		return err
	}
	select {
	case m = <-answer:
	case <-s.closed:
		return errEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch {
	case m.Error != nil:
		return fmt.Errorf("%s: %s", method, m.Error.Message)
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(m.Result, result, lenient); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return nil
}

func (c *connection) send(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Method, err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.out.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("send %s: %w", m.Method, err)
	}
	if _, err := c.out.Write(append(data, 0)); err != nil {
		_ = c.out.Close() // half a command may be in the pipe; Chromium ends without it
		return fmt.Errorf("send %s: %w", m.Method, err)
	}
	return nil
}
