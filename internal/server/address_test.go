package server

import (
	"net"
	"strings"
	"testing"
)

func TestAddressOfAllInterfaces(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{"0.0.0.0:0": "http://localhost:", "[::]:0": "http://localhost:", "127.0.0.1:0": "http://127.0.0.1:"} {
		listener, err := net.Listen("tcp", listen)
		if err != nil {
			t.Skipf("listen at %s: %v", listen, err)
		}
		got := urlOf(listener)
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(got, want) || strings.HasSuffix(got, ":") {
			t.Errorf("a server at %s is reached at %s, want %s and a port", listen, got, want)
		}
	}
}
