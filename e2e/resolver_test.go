package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
)

// resolver is a DNS server on loopback that knows a few names.
type resolver struct {
	socket  net.PacketConn
	names   map[string][]string // the addresses of each name; a rebinding name has one after the other
	rebinds map[string]bool
	asked   atomic.Int64
	program string // the program under test, with this resolver as its only one
}

// namesInside are names that resolve to addresses inside. inside.outside has the address
// 127.0.0.3, which may be reached.
func namesInside() *resolver {
	return &resolver{
		names: map[string][]string{
			"loopback.inside.test.": {"127.0.0.1"}, "private.inside.test.": {"10.0.0.1"}, "metadata.inside.test.": {"169.254.169.254"},
			"six.inside.test.": {"::1"}, "mapped.inside.test.": {"::ffff:127.0.0.1"}, "both.inside.test.": {"127.0.0.1", "127.0.0.3"},
			"rebinding.inside.test.": {"127.0.0.3", "127.0.0.1"},
		},
		rebinds: map[string]bool{"rebinding.inside.test.": true},
	}
}

// newResolver starts the DNS server, and writes a program that runs the one under test with
// it. It returns nil where the system does not permit that.
func newResolver(t *testing.T) *resolver {
	t.Helper()
	r := namesInside()
	err := r.listen()
	if err == nil {
		t.Cleanup(func() { _ = r.socket.Close() }) // nothing was written to it
		err = r.write(t)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Logf("names that resolve inside are left out: %v", err)
		return nil
	}
	go r.serve()
	return r
}

// listen takes port 53 of an address that no other test uses.
func (r *resolver) listen() (err error) {
	for n := 1; n < 100; n++ {
		if r.socket, err = net.ListenPacket("udp4", fmt.Sprintf("127.53.0.%d:53", n)); err == nil || errors.Is(err, os.ErrPermission) {
			break
		}
	}
	return err
}

// write writes a program that sees a resolv.conf of its own: there is no other way to tell
// a process which DNS server it asks.
func (r *resolver) write(t *testing.T) error {
	t.Helper()
	host, _, err := net.SplitHostPort(r.socket.LocalAddr().String())
	if err != nil {
		return err
	}
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver "+host+"\n"), 0o600); err != nil {
		return err
	}
	const mount = `mount --bind "$1" /etc/resolv.conf && shift && exec "$@"`
	r.program = extracttest.Script(t, "cairn", fmt.Sprintf("exec unshare --mount sh -c '%s' sh '%s' '%s' \"$@\"\n", mount, conf, binary))
	if out, err := exec.Command(r.program, "version").CombinedOutput(); err != nil {
		return fmt.Errorf("unshare --mount, which root may use: %w: %s", err, out)
	}
	return nil
}

func (r *resolver) serve() {
	packet := make([]byte, 512)
	for {
		n, from, err := r.socket.ReadFrom(packet)
		if err != nil {
			return // the test has ended
		}
		if answer, err := r.answer(packet[:n]); err == nil {
			_, _ = r.socket.WriteTo(answer, from) // who gets none asks again
		}
	}
}

// answer returns the answer to a question for the addresses of a name.
func (r *resolver) answer(packet []byte) ([]byte, error) {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(q.Name.String())
	header.Response, header.Authoritative, header.RecursionAvailable = true, true, true
	addresses, known := r.names[name]
	if !known {
		header.RCode = dnsmessage.RCodeNameError
	}
	if r.rebinds[name] && q.Type == dnsmessage.TypeA {
		turn := int(r.asked.Add(1)-1) % len(addresses)
		addresses = addresses[turn : turn+1]
	}
	b := dnsmessage.NewBuilder(nil, header)
	if err := errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers()); err != nil {
		return nil, err
	}
	for _, address := range addresses {
		if err := addAddress(&b, q, netip.MustParseAddr(address)); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// addAddress adds an address to an answer, if it is of the kind that the question is for.
func addAddress(b *dnsmessage.Builder, q dnsmessage.Question, ip netip.Addr) error {
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
	switch {
	case ip.Is4() && q.Type == dnsmessage.TypeA:
		return b.AResource(header, dnsmessage.AResource{A: ip.As4()})
	case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
		return b.AAAAResource(header, dnsmessage.AAAAResource{AAAA: ip.As16()})
	}
	return nil
}
