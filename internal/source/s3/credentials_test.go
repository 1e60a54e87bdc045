package s3_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/s3"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

const emptyListing = `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>`

// recorder returns the endpoint of a server that answers with an empty listing,
// and the requests that it received.
func recorder(t *testing.T, answer http.HandlerFunc) (string, <-chan *http.Request) {
	t.Helper()
	requests := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		requests <- r
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func listNothing(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, emptyListing) }

func open(t *testing.T, r source.Request) (source.Source, error) {
	t.Helper()
	r.Type, r.URI, r.Options.PathStyle = source.TypeS3, "s3://bucket/prefix", true
	return s3.New(t.Context(), r, sourcetest.Client())
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		request source.Request
		key     string // in the signature, "" for a request without one
		token   string
	}{
		"json":           {source.Request{Credentials: []byte(` {"access_key_id":"AKJSON","secret_access_key":"x"}`)}, "AKJSON", ""},
		"json_and_token": {source.Request{Credentials: []byte(`{"access_key_id":"AKJSON","secret_access_key":"x","session_token":"T"}`)}, "AKJSON", "T"},
		"a_file":         {source.Request{Credentials: []byte("[default]\naws_access_key_id = AKFILE\naws_secret_access_key = x\n")}, "AKFILE", ""},
		"anonymous":      {source.Request{Spec: source.Spec{Options: source.Options{Anonymous: true}}}, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, requests := recorder(t, listNothing)
			c.request.Options.Endpoint = endpoint
			s, err := open(t, c.request)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.List(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			wantSigned(t, <-requests, c.key, c.token)
		})
	}
}

func wantSigned(t *testing.T, r *http.Request, key, token string) {
	t.Helper()
	authorization := r.Header.Get("Authorization")
	if key == "" && authorization != "" {
		t.Errorf("signed with %q", authorization)
	}
	if key != "" && !strings.Contains(authorization, "Credential="+key+"/") {
		t.Errorf("signed with %q, want the key %s", authorization, key)
	}
	if got := r.Header.Get("X-Amz-Security-Token"); got != token {
		t.Errorf("got token %q, want %q", got, token)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	const assumed = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>session</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>`
	role := source.Request{
		Spec:        source.Spec{Options: source.Options{RoleARN: "arn:aws:iam::123456789012:role/reader", ExternalID: "ext"}},
		Credentials: []byte(secret),
	}
	t.Run("is_assumed", func(t *testing.T) {
		t.Parallel()
		endpoint, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Form.Get("Action") == "AssumeRole" {
				fmt.Fprint(w, assumed)
				return
			}
			listNothing(w, r)
		})
		role := role
		role.Options.Endpoint = endpoint
		s, err := open(t, role)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		asked := <-requests
		wantSigned(t, asked, "AKID", "")
		if asked.Form.Get("RoleArn") != role.Options.RoleARN || asked.Form.Get("ExternalId") != "ext" {
			t.Errorf("asked for %v", asked.Form)
		}
		wantSigned(t, <-requests, "ASIAROLE", "session")
	})
	t.Run("is_refused", func(t *testing.T) {
		t.Parallel()
		endpoint, _ := recorder(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>secret words</Message></Error></ErrorResponse>`)
		})
		role := role
		role.Options.Endpoint = endpoint
		_, err := open(t, role)
		sourcetest.Want(t, err, knowledge.CodeForbidden, false)
		if e := knowledge.AsError(err); !strings.Contains(e.Message, role.Options.RoleARN) || strings.Contains(e.Message, "secret words") {
			t.Errorf("got message %q", e.Message)
		}
	})
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "{", "{}", `{"access_key_id":"hunter2"}`, "hunter2", "[other]\naws_access_key_id = hunter2\naws_secret_access_key = x\n"} {
		_, err := open(t, source.Request{Spec: source.Spec{Secret: "bucket-key"}, Credentials: []byte(secret)})
		sourcetest.Want(t, err, knowledge.CodeInvalid, false)
		if text := fmt.Sprint(err); !strings.Contains(text, "bucket-key") || strings.Contains(text, "hunter2") {
			t.Errorf("%q: got error %q", secret, text)
		}
	}
}

func TestServerWithoutCredentials(t *testing.T) {
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_CONFIG_FILE": home + "/none", "AWS_SHARED_CREDENTIALS_FILE": home + "/none",
	} {
		t.Setenv(name, value)
	}
	_, err := open(t, source.Request{Identity: true})
	sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	endpoint, requests := recorder(t, listNothing)
	for _, o := range []source.Options{{Endpoint: endpoint}, {Endpoint: endpoint, RoleARN: "arn:aws:iam::123456789012:role/reader"}} {
		_, err = open(t, source.Request{Spec: source.Spec{Options: o}}) // nobody allowed it
		sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	}
	if len(requests) > 0 {
		t.Fatal("the identity of the server was used unasked")
	}
	s, err := open(t, source.Request{Spec: source.Spec{Options: source.Options{Endpoint: endpoint}}, Identity: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	wantSigned(t, <-requests, "AKENV", "")
}
