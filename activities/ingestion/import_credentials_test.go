package ingestion_test

import (
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

const bucketKeys = `{"access_key_id":"AK","secret_access_key":"hidden"}`

// credentials returns the credentials of imports where the secret keys is configured, with the
// workspaces that may use the server's identity.
func (f *importFixture) credentials(keys knowledge.Secret, identity ...string) *credential.Book {
	f.Helper()
	box, err := secret.NewBox(secret.NewKey())
	f.Must(err)
	keys.Name = "keys"
	book := credential.New(credential.Config{
		Secrets: []knowledge.Secret{keys}, Value: func(string) ([]byte, error) { return []byte(bucketKeys), nil }, AmbientIdentity: identity,
	}, f.Store, box)
	f.importing.Sources.Credentials = book
	return book
}

// withSecret makes an import name a secret.
func withSecret(name string) func(*store.ImportRequest) {
	return func(r *store.ImportRequest) {
		r.Source = source.Spec{Type: source.TypeS3, URI: "s3://shelf/", Options: source.Options{Endpoint: "https://objects.example.com:9000"}, Secret: name}
	}
}

// opens runs the first step of an import, which opens its source. It returns the request
// that the source got, nil if it was not opened.
func (f *importFixture) opens(change func(*store.ImportRequest)) (*source.Request, error) {
	f.Helper()
	before := len(f.shelf.asked)
	_, err := do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: f.start(change).ImportRef})
	if len(f.shelf.asked) == before {
		return nil, err
	}
	return &f.shelf.asked[before], err
}

// isInvalid reports whether a step failed for good, because of its request.
func isInvalid(err error) bool {
	failed, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && failed.NonRetryable() && failed.Type() == string(knowledge.CodeInvalid)
}

// TestSecretsOfImports runs imports whose secret changed after they were accepted.
func TestSecretsOfImports(t *testing.T) {
	t.Parallel()
	imports := []knowledge.SecretUse{knowledge.SecretInImport}
	hosts := []string{"objects.example.com"}
	for name, c := range map[string]struct {
		secret knowledge.Secret
		opened bool
	}{
		"its_workspaces":     {knowledge.Secret{Workspace: "w", Uses: imports, Hosts: hosts}, true},
		"its_projects":       {knowledge.Secret{Workspace: "w", Project: "p", Uses: imports, Hosts: hosts}, true},
		"another_projects":   {knowledge.Secret{Workspace: "w", Project: "q", Uses: imports, Hosts: hosts}, false},
		"another_workspaces": {knowledge.Secret{Workspace: "v", Uses: imports, Hosts: hosts}, false},
		"nobodys":            {knowledge.Secret{Uses: imports, Hosts: hosts}, false},
		"for_tools_alone":    {knowledge.Secret{Workspace: "w", Uses: []knowledge.SecretUse{knowledge.SecretInHeader}, Hosts: hosts}, false},
		"for_another_host":   {knowledge.Secret{Workspace: "w", Uses: imports, Hosts: []string{"s3.amazonaws.com"}}, false},
		"without_a_host":     {knowledge.Secret{Workspace: "w", Uses: imports}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newImportFixture(t)
			f.credentials(c.secret)
			got, err := f.opens(withSecret("keys"))
			if c.opened {
				if err != nil || got == nil || string(got.Credentials) != bucketKeys || got.Untrusted || got.Identity {
					t.Errorf("opened with %+v, %v", got, err)
				}
				return
			}
			if got != nil || !isInvalid(err) {
				t.Errorf("opened with %+v, %v", got, err)
			}
		})
	}
}

// TestStoredSecretsOfImports uses a secret that was stored by the API, until it is removed.
func TestStoredSecretsOfImports(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	book := f.credentials(knowledge.Secret{})
	stored := store.Secret{Secret: knowledge.Secret{Name: "mine", Workspace: "w", Uses: []knowledge.SecretUse{knowledge.SecretInImport}, Hosts: []string{"*.example.com"}}}
	var err error
	stored.Sealed, err = book.Seal(stored.Secret, bucketKeys)
	f.Must(err)
	_, _, err = f.Store.PutSecret(f.Ctx, activitytest.Manager(), stored)
	f.Must(err)
	i := f.start(withSecret("mine"))
	_, err = do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: i.ImportRef})
	f.Must(err)
	if got := f.shelf.asked[0]; string(got.Credentials) != bucketKeys || !got.Untrusted {
		t.Errorf("opened with %+v", got)
	}
	f.Must(f.Store.RemoveSecret(f.Ctx, activitytest.Manager(), "", "mine"))
	_, err = do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: i.ImportRef, Page: 1})
	if !isInvalid(err) {
		t.Errorf("the open source was used after the removal of its secret: %v", err)
	}
	f.end(i)
	moved := stored // another owner's row does not open
	moved.Name = "other"
	_, _, err = f.Store.PutSecret(f.Ctx, activitytest.Manager(), moved)
	f.Must(err)
	if got, err := f.opens(withSecret("other")); got != nil || !isInvalid(err) {
		t.Errorf("opened with %+v, %v", got, err)
	}
}

// TestIdentityOfImports opens a bucket without a secret.
func TestIdentityOfImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(*store.ImportRequest)
		workspace string // that may use the identity of the server
		opened    bool
	}{
		"is_refused":                   {withSecret(""), "", false},
		"of_another_workspace":         {withSecret(""), "v", false},
		"is_used_where_it_is_allowed":  {withSecret(""), "w", true},
		"is_not_needed_for_public_one": {func(*store.ImportRequest) {}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newImportFixture(t)
			f.credentials(knowledge.Secret{}, c.workspace)
			got, err := f.opens(c.change)
			switch {
			case !c.opened && (got != nil || !isInvalid(err)):
				t.Errorf("opened with %+v, %v", got, err)
			case c.opened && (err != nil || got == nil || got.Credentials != nil || got.Identity != (c.workspace == "w")):
				t.Errorf("opened with %+v, %v", got, err)
			}
		})
	}
}
