package azure_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/azure"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/standin"
)

// The account of the stand-in.
const (
	account = "tester"
	key     = "YSBrZXkgZm9yIHRlc3Rz"
)

func connect(t *testing.T, address, endpoint string) source.Source {
	t.Helper()
	s, err := azure.New(source.Request{
		Spec:        source.Spec{Type: source.TypeAzure, URI: address, Options: source.Options{Endpoint: endpoint}},
		Credentials: []byte(`{"access_key_id": "` + account + `", "secret_access_key": "` + key + `"}`),
	}, sourcetest.Client())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestContract runs the contract on azurite.
func TestContract(t *testing.T) {
	t.Parallel()
	endpoint := standin.Azure(t, account, key)
	secret, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential(endpoint, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), "contract", nil); err != nil {
		t.Fatal(err)
	}
	sourcetest.Run(t, sourcetest.Bucket{
		Address: func(prefix string) string { return "azblob://" + account + "/contract/" + prefix },
		Missing: "azblob://" + account + "/no-such-container/",
		Put: func(t *testing.T, key, body string) {
			if _, err := client.UploadBuffer(t.Context(), "contract", key, []byte(body), nil); err != nil {
				t.Error(err)
			}
		},
		Delete: func(t *testing.T, key string) {
			if _, err := client.DeleteBlob(t.Context(), "contract", key, nil); err != nil {
				t.Error(err)
			}
		},
		Open: func(t *testing.T, address string) source.Source { return connect(t, address, endpoint) },
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	sourcetest.Faults(t, sourcetest.Service{
		Open: func(t *testing.T, endpoint string) source.Source {
			return connect(t, "azblob://account/container/", endpoint)
		},
		ListingType: "application/xml",
		Listing: `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>
<Blob><Name>a.txt</Name><Properties><Last-Modified>Tue, 02 Jan 2024 03:04:05 GMT</Last-Modified><Etag>0x1</Etag><Content-Length>1</Content-Length></Properties></Blob>
<Blob><Name>folder</Name><Properties><Content-Length>0</Content-Length></Properties><Metadata><hdi_isfolder>true</hdi_isfolder></Metadata></Blob>
</Blobs><NextMarker/></EnumerationResults>`,
	})
}

// recorder records the requests that each host receives.
type recorder struct{ received map[string]*http.Request }

// RoundTrip implements http.RoundTripper.
func (s recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	s.received[r.URL.Host] = r
	body := io.NopCloser(strings.NewReader(`<EnumerationResults><Blobs></Blobs></EnumerationResults>`))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/xml"}}, Body: body, Request: r}, nil
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	const connection = "DefaultEndpointsProtocol=https;AccountName=account;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net"
	for name, c := range map[string]struct {
		secret    string
		options   source.Options
		host      string
		signed    bool // by the account key
		signature string
	}{
		"a_key":               {`{"access_key_id": "account", "secret_access_key": "c2VjcmV0"}`, source.Options{}, "account.blob.core.windows.net", true, ""},
		"a_connection_string": {connection, source.Options{}, "account.blob.core.windows.net", true, ""},
		"a_key_elsewhere":     {connection, source.Options{Endpoint: "http://elsewhere.example"}, "elsewhere.example", true, ""},
		"a_signature":         {`{"sas_token": "?sv=1&sig=x"}`, source.Options{}, "account.blob.core.windows.net", false, "x"},
		"no_signature_for_others": {`{"sas_token": "?sv=1&sig=x"}`, source.Options{Endpoint: "https://elsewhere.example"},
			"elsewhere.example", false, ""},
		"anonymous": {"", source.Options{Anonymous: true}, "account.blob.core.windows.net", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := source.Request{Spec: source.Spec{URI: "azblob://account/container/prefix", Options: c.options}}
			if c.secret != "" {
				r.Credentials = []byte(c.secret)
			}
			hosts := recorder{received: map[string]*http.Request{}}
			s, err := azure.New(r, &http.Client{Transport: hosts})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.List(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			got := hosts.received[c.host]
			if got == nil || len(hosts.received) != 1 {
				t.Fatalf("requests went to %v", hosts.received)
			}
			if signed := strings.HasPrefix(got.Header.Get("Authorization"), "SharedKey account:"); signed != c.signed || got.URL.Query().Get("sig") != c.signature {
				t.Errorf("got header %q and query %q", got.Header.Get("Authorization"), got.URL.RawQuery)
			}
		})
	}
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "{", "{}", "hunter2", `{"access_key_id": "x", "secret_access_key": "hunter2 is not base64"}`, `{"clientId": "x", "clientSecret": "hunter2"}`} {
		_, err := azure.New(source.Request{Spec: source.Spec{URI: "azblob://account/container", Secret: "bucket-key"}, Credentials: []byte(secret)}, sourcetest.Client())
		sourcetest.Want(t, err, knowledge.CodeInvalid, false)
		if text := fmt.Sprint(err); !strings.Contains(text, "bucket-key") || strings.Contains(text, "hunter2") {
			t.Errorf("%q: got error %q", secret, text)
		}
	}
}

func TestIdentityIsNotUsedUnasked(t *testing.T) {
	t.Parallel()
	_, err := azure.New(source.Request{Spec: source.Spec{URI: "azblob://account/container"}}, sourcetest.Client())
	sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	if _, err := azure.New(source.Request{Spec: source.Spec{URI: "azblob://account/container"}, Identity: true}, sourcetest.Client()); err != nil {
		t.Errorf("where it is allowed: %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "azblob://", "azblob://account", "azblob://account/", "s3://a/b", "azblob://account/container?x/y"} {
		if err := azure.Check(source.Spec{URI: uri}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%q: got error %v", uri, err)
		}
	}
	if err := azure.Check(source.Spec{URI: "azblob://account/container/a prefix?/"}); err != nil {
		t.Error(err)
	}
}

func TestArchivedBlobs(t *testing.T) {
	t.Parallel()
	server := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusConflict, Header: http.Header{"X-Ms-Error-Code": {"BlobArchived"}}, Body: http.NoBody, Request: r}, nil
	})
	s, err := azure.New(source.Request{Spec: source.Spec{URI: "azblob://account/container", Options: source.Options{Anonymous: true}}}, &http.Client{Transport: server})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Open(t.Context(), source.Object{Key: "a.txt"}, "")
	sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	if diff := cmp.Diff("\"azblob://account/container/a.txt\" is in the archive tier of the container; restore it and try again", knowledge.AsError(err).Message); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
