package gcs_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/gcs"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestUntrustedCredentials opens buckets with files that a user stored.
func TestUntrustedCredentials(t *testing.T) {
	t.Parallel()
	spec := source.Spec{Type: source.TypeGCS, URI: "gs://bucket/", Secret: "bucket-key"}
	t.Run("ask_for_tokens_at_public_addresses_alone", func(t *testing.T) {
		t.Parallel()
		r := source.Request{Spec: spec, Credentials: serviceAccount(t), Untrusted: true} // its tokens come from loopback
		if _, err := gcs.New(t.Context(), r, safedial.New(safedial.Config{}).Client(0)); err == nil || !strings.Contains(err.Error(), "refused address") {
			t.Errorf("got error %v", err)
		}
		if _, err := gcs.New(t.Context(), r, sourcetest.Client()); err != nil {
			t.Errorf("where loopback is allowed: %v", err)
		}
	})
	t.Run("name_no_file_of_the_server", func(t *testing.T) {
		t.Parallel()
		file := `{"type": "external_account", "audience": "//iam.googleapis.com/x", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
			"token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": "/etc/passwd"}}`
		_, err := gcs.New(t.Context(), source.Request{Spec: spec, Credentials: []byte(file), Untrusted: true}, sourcetest.Client())
		sourcetest.Want(t, err, knowledge.CodeInvalid, false)
	})
}

func TestIdentityIsNotUsedUnasked(t *testing.T) {
	t.Parallel()
	_, err := gcs.New(t.Context(), source.Request{Spec: source.Spec{Type: source.TypeGCS, URI: "gs://bucket/"}}, http.DefaultClient)
	sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	if !strings.Contains(err.Error(), "name a secret") {
		t.Errorf("got error %v", err)
	}
}
