package milvus_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	s := shared(t)
	good, caFile := certificate(t, "127.0.0.1", time.Hour)
	_, otherFile := certificate(t, "127.0.0.1", time.Hour)
	address := encrypt(t, s.Address, good)

	t.Run("a_server_whose_authority_is_named", func(t *testing.T) {
		t.Parallel()
		x := open(t, encryptedConfig(t, address, caFile))
		if err := x.Upsert(t.Context(), []index.Entry{passage("a")}); err != nil {
			t.Fatal(err)
		}
		hits, err := x.BM25(t.Context(), index.Query{Principal: member(), Limit: 10}, "common")
		if err != nil || len(hits) != 1 {
			t.Errorf("%d hits, %v; want 1", len(hits), err)
		}
	})
	t.Run("a_certificate_that_is_not_trusted", func(t *testing.T) {
		t.Parallel()
		for _, authority := range []string{"", otherFile} {
			refused(t, encryptedConfig(t, address, authority), knowledge.CodeUnavailable, "is not trusted; add ca_file=")
		}
	})
	t.Run("a_certificate_of_another_server", func(t *testing.T) {
		t.Parallel()
		other, authority := certificate(t, "127.0.0.2", time.Hour)
		refused(t, encryptedConfig(t, encrypt(t, s.Address, other), authority), knowledge.CodeUnavailable, "is not for 127.0.0.1")
	})
	t.Run("a_certificate_that_has_expired", func(t *testing.T) {
		t.Parallel()
		old, authority := certificate(t, "127.0.0.1", -time.Hour)
		refused(t, encryptedConfig(t, encrypt(t, s.Address, old), authority), knowledge.CodeUnavailable, "has expired")
	})
	t.Run("a_server_without_TLS", func(t *testing.T) {
		t.Parallel()
		refused(t, encryptedConfig(t, plain(t), caFile), knowledge.CodeInvalid, "does not speak TLS")
	})
	t.Run("a_file_without_a_certificate", func(t *testing.T) {
		t.Parallel()
		empty := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, encryptedConfig(t, address, empty), knowledge.CodeInvalid, "has no certificate")
		refused(t, encryptedConfig(t, address, empty+"x"), knowledge.CodeInvalid, "cannot be read")
	})
}

// encryptedConfig returns the configuration of an empty index on a light server behind
// TLS, from the address that a user would write. caFile is "" for the authorities of the
// system.
func encryptedConfig(t *testing.T, address, caFile string) milvus.Config {
	t.Helper()
	query := url.Values{"tls": {"true"}, "analyzer": {"standard"}, "prefix": {"t" + rand.Text()}}
	if caFile != "" {
		query.Set("ca_file", caFile)
	}
	cfg, err := milvus.ParseURL("milvus://" + address + "?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	cfg.ListEvery = time.Millisecond
	return cfg
}

// certificate returns a certificate for an address that ends after life, signed by
// itself, and the file in which it is.
func certificate(t *testing.T, ip string, life time.Duration) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(life),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// encrypt returns the address of a proxy that speaks TLS with its clients and forwards
// what they send to a server.
func encrypt(t *testing.T, server string, certificate tls.Certificate) string {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, listener, func(client net.Conn) {
		upstream, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
		if err != nil {
			return
		}
		var both sync.WaitGroup
		for _, ends := range [][2]net.Conn{{client, upstream}, {upstream, client}} {
			both.Go(func() {
				_, _ = io.Copy(ends[0], ends[1]) // an end of either is the end of both
				_ = errors.Join(client.Close(), upstream.Close())
			})
		}
		both.Wait()
	})
}

// plain returns the address of a server that speaks no TLS.
func plain(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, listener, func(client net.Conn) {
		_, _ = io.WriteString(client, "HTTP/1.1 400 Bad Request\r\n\r\n") // the client sees what it can
	})
}

// serve handles connections until the test has ended, each of which it then closes.
func serve(t *testing.T, listener net.Listener, handle func(net.Conn)) string {
	t.Helper()
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				handle(conn)
				_ = conn.Close() // the client may have closed it
			}()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // nothing depends on it any more
		accepting.Wait()
	})
	return listener.Addr().String()
}
