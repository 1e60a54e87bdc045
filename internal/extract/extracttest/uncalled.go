package extracttest

import (
	"net"
	"testing"
)

// Uncalled returns a loopback address, host and port, that must not be called: the test
// fails at its end if a program connected to it.
func Uncalled(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := listener.Accept()
			if err != nil {
				return // the test ended
			}
			t.Errorf("a call from %s", c.RemoteAddr())
			_ = c.Close() // only the call counts
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close() // nothing is lost
		<-ended
	})
	return listener.Addr().String()
}
