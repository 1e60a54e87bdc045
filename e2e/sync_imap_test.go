package e2e_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// serveMail serves a mailbox over TLS, with a pause before each answer. It returns the address
// and the file of the certificate.
func serveMail(t *testing.T, fake *sourcetest.IMAP, pause *atomic.Int64) (address, certificate string) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(web.Close)
	certificate = filepath.Join(t.TempDir(), "mail.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go fake.Serve(conn, func() int {
				time.Sleep(time.Duration(pause.Load()))
				return 100
			})
		}
	}()
	return "imaps://" + listener.Addr().String(), certificate
}

// mails is how many messages the mailbox has.
const mails = 120

// TestMailSync follows a mailbox: over a kill, flags, removals and a renumbering.
func TestMailSync(t *testing.T) {
	t.Parallel()
	world := sourcetest.NewWorld("ann")
	fake := sourcetest.NewIMAP(world)
	var files []int
	for n := range mails {
		files = append(files, world.Create(0, fmt.Sprintf("Lighthouse %d", n), false, fmt.Sprintf("The password of lighthouse %d is seagull%d.", n, n)))
	}
	var pause atomic.Int64
	address, certificate := serveMail(t, fake, &pause)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "SSL_CERT_FILE="+certificate)...)
	connection := client.NewConnection{Type: "imap", Options: map[string]string{"url": address, "username": fake.Username}, Secret: fake.Password}
	pause.Store(int64(20 * time.Millisecond))
	y := s.followPlace(t, connection, client.NewSync{Every: "24h"})
	s.awaitPublishedObjects(t, y.LastRun.ID, 20)
	s.kill()
	s.restart()
	pause.Store(0)
	y = s.syncEnds(t, y)
	wantSync(t, y, mails, mails, 0, 0, 0)
	document := func(n int) client.Document {
		t.Helper()
		for _, d := range s.imported(t) {
			if d.Name == fmt.Sprintf("Lighthouse %d.eml", n) {
				return d
			}
		}
		return client.Document{}
	}
	before := document(5)
	if before.PublishedVersion != 1 || !strings.HasPrefix(before.ExternalID, address+"/ann/INBOX#message:") {
		t.Fatalf("a document is %+v", before)
	}
	texts := m.Totals().Texts

	t.Run("a run without a change lists nothing", func(t *testing.T) {
		wantSync(t, s.syncNow(t, y.ID), 0, 0, 0, 0, 0)
	})
	t.Run("a flag is a tag and embeds nothing", func(t *testing.T) {
		fake.Flag(files[5], `\Flagged`, `\Seen`)
		wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
		if d := document(5); d.ID != before.ID || !slices.Contains(d.Tags, "flagged") || d.PublishedVersion != 1 {
			t.Errorf("the document is %+v", d)
		}
	})
	t.Run("a removed message goes, and a renumbering embeds nothing", func(t *testing.T) {
		gone := document(7)
		world.Delete(files[7])
		wantSync(t, s.syncNow(t, y.ID), mails-1, 0, mails-1, 0, 1)
		s.awaitGone(t, gone.ID)
		fake.Renumber()
		wantSync(t, s.syncNow(t, y.ID), mails-1, 0, mails-1, 0, 0)
		if d := document(5); d.ID != before.ID {
			t.Errorf("the document is %+v", d)
		}
		if n := m.Totals().Texts - texts; n != 0 {
			t.Errorf("%d texts were embedded", n)
		}
	})
	t.Run("a new message is read", func(t *testing.T) {
		world.Create(0, "News", false, "The password of the horn is gannet.")
		wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
	})
}
