// Package clamdtest stands in for ClamAV's daemon: it speaks PING and INSTREAM of its protocol,
// and knows one signature, the test file of EICAR.
package clamdtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// EICAR returns the test file of EICAR, which every scanner reports and which does nothing. Its
// two halves stand apart, so that no scanner reports this file.
func EICAR() string {
	return `X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR` + `-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`
}

// Server is a stand-in. Its methods may be called at the same time.
type Server struct {
	address string
	limit   int

	mu       sync.Mutex
	listener net.Listener // nil = it is down
	scanned  int
	serving  sync.WaitGroup
}

// New starts a stand-in that takes files of up to limit bytes. It ends with the test.
func New(t testing.TB, limit int) *Server {
	t.Helper()
	s := &Server{limit: limit, address: "127.0.0.1:0"}
	s.Up(t)
	t.Cleanup(s.Down)
	return s
}

// Address returns its host and port, which stay the same.
func (s *Server) Address() string { return s.address }

// Scanned returns how many files it has looked at.
func (s *Server) Scanned() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scanned
}

// Up has it answer again.
func (s *Server) Up(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener, s.address = l, l.Addr().String()
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() {
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
}

// Down closes its port.
func (s *Server) Down() {
	s.mu.Lock()
	l := s.listener
	s.listener = nil
	s.mu.Unlock()
	if l != nil {
		_ = l.Close() // it only listened
	}
	s.serving.Wait()
}

func (s *Server) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	command, err := in.ReadString(0)
	if err != nil {
		return
	}
	reply := "UNKNOWN COMMAND"
	switch command {
	case "zPING\x00":
		reply = "PONG"
	case "zINSTREAM\x00":
		reply = s.scan(in)
	}
	_, _ = io.WriteString(conn, reply+"\x00") // the client may have gone
}

// scan reads the chunks of a file and returns the verdict.
func (s *Server) scan(in io.Reader) string {
	var file bytes.Buffer
	for {
		var length uint32
		if err := binary.Read(in, binary.BigEndian, &length); err != nil {
			return "stream: read error ERROR"
		}
		if length == 0 {
			break
		}
		if file.Len()+int(length) > s.limit {
			return "INSTREAM size limit exceeded. ERROR"
		}
		if _, err := io.CopyN(&file, in, int64(length)); err != nil {
			return "stream: read error ERROR"
		}
	}
	s.mu.Lock()
	s.scanned++
	s.mu.Unlock()
	if bytes.Contains(file.Bytes(), []byte(EICAR())) {
		return "stream: Eicar-Test-Signature FOUND"
	}
	return "stream: OK"
}
