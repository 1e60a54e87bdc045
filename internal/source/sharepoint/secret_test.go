package sharepoint_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sharepoint"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// certify makes a certificate that the fake accepts, and returns it with its key as PEM text.
func certify(t *testing.T, g *sourcetest.MSGraph) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if g.Certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})) + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestCredentials has an application that Entra knows, and others.
func TestCredentials(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	certificate := certify(t, g)
	other := certify(t, sourcetest.NewMSGraph(g.World))
	for name, c := range map[string]struct {
		change func(f *source.Follow)
		want   string // in the message, "" = it is accepted
	}{
		"a client secret":     {func(*source.Follow) {}, ""},
		"a certificate":       {func(f *source.Follow) { f.Credentials = certificate }, ""},
		"another certificate": {func(f *source.Follow) { f.Credentials = other }, "upload it at the application"},
		"a wrong secret":      {func(f *source.Follow) { f.Credentials = "wrong" }, "its client secret is wrong"},
		"another tenant":      {func(f *source.Follow) { f.Options.Tenant = "other.example.com" }, "check options.tenant"},
		"another application": {func(f *source.Follow) { f.Options.ClientID = "other" }, "has no such application"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := follow(g, library())
			c.change(&f)
			err := sharepoint.Try(t.Context(), f, sourcetest.Local(g))
			if c.want == "" && err != nil || c.want != "" && (!knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the error is %v", err)
			}
			if err := sharepoint.CheckConnection(f); err != nil {
				t.Errorf("it is refused before: %v", err)
			}
		})
	}
}

// TestSecretEnds has secrets that say when they expire, and one that does not.
func TestSecretEnds(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	certificate := certify(t, g)
	g.SecretEnds = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	f := follow(g, library())
	ends := func(want time.Time) {
		t.Helper()
		if got, err := sharepoint.SecretEnds(t.Context(), f, sourcetest.Local(g)); err != nil || !got.Equal(want) {
			t.Errorf("it expires at %v, want %v; %v", got, want, err)
		}
	}
	ends(time.Time{}) // the application may not read it
	g.Permit("Sites.Read.All", "Application.Read.All")
	ends(g.SecretEnds)
	f.Credentials = certificate
	ends(g.Certificate.NotAfter)
}

// TestWrongSecrets has texts that are no secrets.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	right, other := certify(t, g), certify(t, g)
	key, certificate, _ := strings.Cut(right, "-----END PRIVATE KEY-----\n")
	key += "-----END PRIVATE KEY-----\n"
	_, foreign, _ := strings.Cut(other, "-----END PRIVATE KEY-----\n")
	f := follow(g, library())
	for name, text := range map[string]string{
		"nothing": "", "two words": "a b", "a key alone": key, "a certificate alone": certificate, "a certificate of another key": key + foreign,
		"a broken certificate": key + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	} {
		if f.Credentials = text; !knowledge.IsCode(sharepoint.CheckConnection(f), knowledge.CodeInvalid) {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, text := range []string{certificate + key, strings.ReplaceAll(key+certificate, "\n", ""), strings.ReplaceAll(key+certificate, "\n", "\r\n")} {
		if f.Credentials = text; sharepoint.CheckConnection(f) != nil {
			t.Errorf("it is refused: %s", text)
		}
	}
}

// TestLinksElsewhere has a page that names the next one at another server, which is sent no
// token.
func TestLinksElsewhere(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "elsewhere.test" {
			t.Error("the other server is asked")
		}
		if !strings.HasSuffix(r.URL.Path, "/root/delta") || r.URL.Query().Get("token") == "latest" {
			g.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"value":[],"@odata.nextLink":"http://elsewhere.test/v1.0/drives/x/root/delta"}`))
	})
	s, err := sharepoint.New(follow(g, library()), sourcetest.Local(handler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), ""); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("the error is %v", err)
	}
}

// TestDownload reads a file over the network: the signed address gets no token, although it is
// at the same host here, and a private address is refused.
func TestDownload(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.World.Create(0, "a.txt", false, "the text")
	var private atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if private.Load() && strings.HasSuffix(r.URL.Path, "/content") {
			http.Redirect(w, r, "http://10.0.0.1/latest/meta-data/", http.StatusFound)
			return
		}
		g.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f := follow(g, library())
	f.Options.URL = server.URL
	s, err := sharepoint.New(f, sourcetest.Client())
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), "")
	if err != nil || len(page.Objects) != 1 {
		t.Fatalf("listed %+v, %v", page, err)
	}
	if text, read := sourcetest.Read(t, s, page.Objects[0]); text != "the text" || read.ETag != page.Objects[0].ETag {
		t.Errorf("read %q as %+v", text, read)
	}
	private.Store(true)
	_, _, err = s.Open(t.Context(), page.Objects[0], "")
	sourcetest.Want(t, err, knowledge.CodeInvalid, false)
}
