package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// configuredSecrets are the secrets of the configuration. bucket is for the workspace default, the
// others are closed to it, each for another reason.
var configuredSecrets = []knowledge.Secret{
	{Name: "bucket", Workspace: "default", Uses: []knowledge.SecretUse{knowledge.SecretInHeader, knowledge.SecretInImport}, Hosts: []string{"api.test", "s3.amazonaws.com"}},
	{Name: "of-other", Workspace: "other", Uses: knowledge.SecretUses(), Hosts: []string{"api.test", "s3.amazonaws.com"}},
	{Name: "of-nobody", Uses: knowledge.SecretUses(), Hosts: []string{"api.test", "s3.amazonaws.com"}},
	{Name: "of-no-use", Workspace: "default", Hosts: []string{"api.test", "s3.amazonaws.com"}},
	{Name: "of-webhooks", Workspace: "default", Uses: []knowledge.SecretUse{knowledge.SecretInWebhook}, Hosts: []string{"api.test", "s3.amazonaws.com"}},
	{Name: "of-no-host", Workspace: "default", Uses: knowledge.SecretUses()},
	{Name: "of-another-host", Workspace: "default", Uses: knowledge.SecretUses(), Hosts: []string{"*.example.com"}},
	{Name: "of-another-project", Workspace: "default", Project: "elsewhere", Uses: knowledge.SecretUses(), Hosts: []string{"api.test", "s3.amazonaws.com"}},
}

// closedSecrets are names that no project default can use; the last names no secret.
var closedSecrets = []string{"of-other", "of-nobody", "of-no-use", "of-webhooks", "of-no-host", "of-another-host", "of-another-project", "of-nothing"}

// toolWith is a change of a project that gives it a tool with a secret.
func toolWith(secret string) string {
	return `{"tools":{"custom":{"order":{"type":"automation","automation":{"url":"https://api.test/","headers":{"X-Api-Key":"secrets.` + secret + `"}}}}}}`
}

// importWith is an import with a secret.
func importWith(secret, more string) string {
	return `{"source":{"type":"s3","uri":"s3://b","secret":"` + secret + `"}` + more + `}`
}

// TestClosedSecrets names secrets of others at every door. Each answer is the answer to a name
// that does not exist.
func TestClosedSecrets(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, door := range map[string]func(secret string) answer{
		"a_change_of_a_project": func(secret string) answer { return e.do("PATCH", own+"/projects/default", e.admin, toolWith(secret)) },
		"a_save_of_a_project": func(secret string) answer {
			return e.do("POST", hooks+"/projects", e.admin, `{"id":"default",`+toolWith(secret)[1:])
		},
		"a_new_project": func(secret string) answer {
			return e.do("POST", hooks+"/projects", e.admin, `{"name":"New",`+toolWith(secret)[1:])
		},
		"a_tool_of_an_mcp_server": func(secret string) answer {
			return e.do("PATCH", own+"/projects/default", e.admin, `{"tools":{"custom":{"m":{"type":"mcp","mcp":{"url":"https://api.test/","headers":{"A":"x ${secrets.`+secret+`}"}}}}}}`)
		},
		"an_import": func(secret string) answer { return e.do("POST", importsPath, e.editor, importWith(secret, "")) },
		"a_dry_run_of_an_import": func(secret string) answer {
			return e.do("POST", importsPath, e.editor, importWith(secret, `,"dry_run":true`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			missing := ""
			for i := len(closedSecrets) - 1; i >= 0; i-- {
				secret := closedSecrets[i]
				got := door(secret)
				got.refused(422, knowledge.CodeInvalid)
				text := strings.ReplaceAll(string(got.body), secret, "NAME")
				if missing == "" {
					missing = text
				}
				if diff := cmp.Diff(missing, text); diff != "" {
					t.Errorf("%s is told from a name that does not exist: %s", secret, diff)
				}
			}
		})
	}
	if len(e.work.imports) != 0 {
		t.Errorf("started %v", e.work.imports)
	}
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("bucket")).want(200)
	e.do("POST", importsPath, e.editor, importWith("bucket", "")).want(202)
	e.do("POST", importsPath, e.editor, `{"source":{"type":"s3","uri":"s3://b","secret":"bucket","options":{"endpoint":"https://evil.test"}}}`).refused(422, knowledge.CodeInvalid)
	e.do("PATCH", own+"/projects/default", e.admin, strings.ReplaceAll(toolWith("bucket"), "api.test", "evil.test")).refused(422, knowledge.CodeInvalid)
}

const secretValue = "the-value-of-the-secret"

func putSecret(more string) string { return `{"value":"` + secretValue + `"` + more + `}` }

const forTools = `,"uses":["header","import","header"],"hosts":["api.test","s3.amazonaws.com"]`

// TestStoredSecrets stores a secret, which is used and never shown.
func TestStoredSecrets(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/secrets"
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("mine")).refused(422, knowledge.CodeInvalid)
	stored := e.do("PUT", path+"/mine", e.admin, putSecret(forTools)).want(200)
	if stored["name"] != "mine" || stored["project_id"] != nil || stored["from"] != "stored" || stored["created_at"] == nil || fmt.Sprint(stored["uses"]) != "[header import]" ||
		fmt.Sprint(stored["hosts"]) != "[api.test s3.amazonaws.com]" || stored["value"] != nil {
		t.Errorf("stored %v", stored)
	}
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("mine")).want(200)
	i := e.do("POST", importsPath, e.editor, importWith("mine", "")).want(202)["id"].(string)
	e.do("PUT", path+"/mine", e.admin, putSecret(`,"uses":["import"],"hosts":["*.amazonaws.com"],"project_id":"default"`)).want(200)
	for _, read := range []string{path, path + "/mine", path + "/mine?project_id=default", own + "/projects/default", own + "/projects", importsPath, importsPath + "/" + i, own + "/runs", own + "/runs/" + i} {
		if got := e.do("GET", read, e.admin, nil); got.status != 200 || bytes.Contains(got.body, []byte(secretValue)) {
			t.Errorf("%s: %d %s", read, got.status, got.body)
		}
	}
	if strings.Contains(e.log.String(), secretValue) {
		t.Error("the log has the value")
	}
	if got := e.do("GET", path+"/mine?project_id=default", e.admin, nil).want(200); got["project_id"] != "default" {
		t.Errorf("the project means %v", got)
	}
	if got := e.do("GET", path+"/mine", e.admin, nil).want(200); got["project_id"] != nil {
		t.Errorf("the workspace means %v", got)
	}
	e.do("PATCH", own+"/projects/default", e.admin, `{"tools":{"custom":{"order":null}}}`).want(200)
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("mine")).refused(422, knowledge.CodeInvalid) // its own has no such use
	e.do("DELETE", path+"/mine?project_id=default", e.admin, nil).want(204)
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("mine")).want(200)
	e.do("DELETE", path+"/mine", e.admin, nil).want(204)
	e.do("DELETE", path+"/mine", e.admin, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", path+"/mine", e.admin, nil).refused(404, knowledge.CodeNotFound)
}

func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/secrets"
	if err := e.store.CreateProject(t.Context(), knowledge.Project{ID: "press", Workspace: "default", Name: "Press"}); err != nil {
		t.Fatal(err)
	}
	press := e.key(store.Key{Workspace: "default", Project: "press", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	e.do("PUT", path+"/all", e.admin, putSecret(forTools)).want(200)
	e.do("PUT", path+"/theirs", e.admin, putSecret(forTools+`,"project_id":"default"`)).want(200)
	for _, key := range []string{e.editor, e.reader} {
		e.do("PUT", path+"/x", key, putSecret(forTools)).refused(403, knowledge.CodeForbidden)
		for _, method := range []string{"GET", "DELETE"} {
			e.do(method, path+"/all", key, nil).refused(403, knowledge.CodeForbidden)
		}
		e.do("GET", path, key, nil).refused(403, knowledge.CodeForbidden)
	}
	e.do("GET", path+"/all", e.stranger, nil).refused(404, knowledge.CodeNotFound)
	e.do("PUT", path+"/all", e.stranger, putSecret(forTools)).refused(404, knowledge.CodeNotFound)
	e.do("GET", "/workspaces/other/secrets/all", e.stranger, nil).refused(404, knowledge.CodeNotFound)

	if got := e.do("PUT", path+"/own", press, putSecret(forTools)).want(200); got["project_id"] != "press" {
		t.Errorf("a key to a project stored %v", got)
	}
	e.do("PUT", path+"/theirs", press, putSecret(forTools+`,"project_id":"default"`)).refused(404, knowledge.CodeNotFound)
	e.do("GET", path+"/theirs", press, nil).refused(404, knowledge.CodeNotFound)
	for _, secret := range []string{"theirs", "all"} { // the workspace's secret is not its own to remove
		e.do("DELETE", path+"/"+secret, press, nil).refused(404, knowledge.CodeNotFound)
	}
	names := []string{}
	for _, view := range e.do("GET", path, press, nil).want(200)["data"].([]any) {
		names = append(names, view.(map[string]any)["name"].(string))
	}
	if diff := cmp.Diff([]string{"all", "bucket", "of-another-host", "of-no-host", "of-no-use", "of-webhooks", "own"}, names); diff != "" {
		t.Error(diff)
	}
	e.do("PATCH", own+"/projects/press", press, toolWith("own")).want(200)
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("own")).refused(422, knowledge.CodeInvalid)
	e.do("PATCH", own+"/projects/default", e.admin, toolWith("theirs")).want(200)
}

// TestSecretsOfTheConfiguration are used in the place of stored ones, which is never silent.
func TestSecretsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/secrets"
	if got := e.do("GET", path+"/bucket", e.admin, nil).want(200); got["from"] != "configuration" || got["created_at"] != nil {
		t.Errorf("got %v", got)
	}
	for _, name := range []string{"bucket", "of-no-use"} {
		e.do("PUT", path+"/"+name, e.admin, putSecret(forTools)).refused(409, knowledge.CodeConflict)
		e.do("PUT", path+"/"+name, e.admin, putSecret(forTools+`,"project_id":"default"`)).refused(409, knowledge.CodeConflict)
		e.do("DELETE", path+"/"+name, e.admin, nil).refused(409, knowledge.CodeConflict)
	}
	for _, name := range []string{"of-other", "of-nobody"} { // which this workspace does not know
		e.do("GET", path+"/"+name, e.admin, nil).refused(404, knowledge.CodeNotFound)
		e.do("DELETE", path+"/"+name, e.admin, nil).refused(404, knowledge.CodeNotFound)
		e.do("PUT", path+"/"+name, e.admin, putSecret(forTools)).want(200)
		e.do("PATCH", own+"/projects/default", e.admin, toolWith(name)).want(200)
	}
	configuration, later := openToChange(t)
	later.do("PUT", path+"/late", later.admin, putSecret(forTools)).want(200)
	configuration.NamedSecrets = credential.New(credential.Config{
		Secrets: []knowledge.Secret{{Name: "late", Workspace: "default"}},
	}, later.store, nil)
	later.do("PATCH", own+"/projects/default", later.admin, toolWith("late")).refused(422, knowledge.CodeInvalid)
	if got := fmt.Sprint(later.do("GET", path, later.admin, nil).want(200)["data"]); !strings.Contains(got, "shadowed:true") {
		t.Errorf("the list does not say that a stored secret is not used: %s", got)
	}
}

// configuration has the secrets of an API, which a test can change between two requests.
type configuration struct{ api.NamedSecrets }

func openToChange(t *testing.T) (*configuration, *edge) {
	t.Helper()
	c := &configuration{}
	e := open(t, func(_ *api.Config, deps *api.Deps) {
		c.NamedSecrets, deps.NamedSecrets = deps.NamedSecrets, c
	})
	return c, e
}

func TestWrongStoredSecrets(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/secrets/"
	for body, location := range map[string]string{
		putSecret(``): "body",
		putSecret(`,"uses":[],"hosts":["a.net"]`):                                                                        "body.uses",
		putSecret(`,"uses":["header"],"hosts":[]`):                                                                       "body.hosts",
		putSecret(`,"uses":["all"],"hosts":["a.net"]`):                                                                   "body.uses[0]",
		putSecret(`,"uses":["header"],"hosts":["https://a.net"]`):                                                        "body.hosts",
		putSecret(`,"uses":["header"],"hosts":["*"]`):                                                                    "body.hosts",
		`{"value":"","uses":["header"],"hosts":["a.net"]}`:                                                               "body.value",
		`{"value":" ","uses":["import"],"hosts":["a.net"]}`:                                                              "body.value",
		`{"value":"` + secretValue + `\r\nX: y","uses":["header"],"hosts":["a.net"]}`:                                    "body.value",
		`{"value":"` + strings.Repeat(secretValue, 64<<10/len(secretValue)+1) + `","uses":["import"],"hosts":["a.net"]}`: "body.value",
		`{"value":["` + secretValue + `"],"uses":["import"],"hosts":["a.net"]}`:                                          "body.value",
	} {
		got := e.do("PUT", path+"x", e.admin, body)
		if locations := got.refused(422, knowledge.CodeInvalid); locations[0] != location {
			t.Errorf("%.100s: locations %v, want %s", body, locations, location)
		}
		if bytes.Contains(got.body, []byte(secretValue)) {
			t.Errorf("the error shows the value: %s", got.body)
		}
	}
	for _, name := range []string{"A", "-a", "a.b", strings.Repeat("a", 64)} {
		e.do("PUT", path+name, e.admin, putSecret(forTools)).refused(422, knowledge.CodeInvalid)
	}
	e.do("PUT", path+"x", e.admin, putSecret(forTools+`,"project_id":"nobody"`)).refused(404, knowledge.CodeNotFound)
	if strings.Contains(e.log.String(), secretValue) {
		t.Error("the log has the value")
	}
}

// TestIdentityOfTheServer imports without a secret.
func TestIdentityOfTheServer(t *testing.T) {
	t.Parallel()
	const bucket = `{"source":{"type":"s3","uri":"s3://b","options":{"region":"eu-central-1"}}}`
	configuration, e := openToChange(t)
	for _, body := range []string{
		bucket, `{"source":{"type":"gcs","uri":"gs://b"}}`, `{"source":{"type":"azure","uri":"azblob://a/b"}}`,
		`{"source":{"type":"s3","uri":"s3://b","options":{"role_arn":"arn:aws:iam::123456789012:role/reader"}}}`,
		`{"source":{"type":"s3","uri":"s3://b"},"dry_run":true}`,
	} {
		got := e.do("POST", importsPath, e.editor, body)
		if locations := got.refused(422, knowledge.CodeInvalid); locations[0] != "body.source.secret" {
			t.Errorf("%s: locations %v", body, locations)
		}
		for _, way := range []string{"name a secret", "source.options.anonymous", "import.ambient_identity"} {
			if !bytes.Contains(got.body, []byte(way)) {
				t.Errorf("%s: %s does not name %s", body, got.body, way)
			}
		}
	}
	configuration.NamedSecrets = credential.New(credential.Config{AmbientIdentity: []string{"default"}}, e.store, nil)
	e.do("POST", importsPath, e.editor, bucket).want(202)
	e.do("POST", "/workspaces/other/imports", e.stranger, bucket).refused(422, knowledge.CodeInvalid)
}

// TestRetryWithoutItsSecret retries an import whose secret was removed meanwhile.
func TestRetryWithoutItsSecret(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PUT", own+"/secrets/mine", e.admin, putSecret(forTools)).want(200)
	path := importsPath + "/" + e.do("POST", importsPath, e.editor, importWith("mine", "")).want(202)["id"].(string)
	e.work.unknown = true
	e.do("POST", path+"/cancel", e.editor, nil).want(202)
	e.do("POST", path+"/retry_failed", e.editor, nil).refused(409, knowledge.CodeConflict) // nothing failed
	e.do("DELETE", own+"/secrets/mine", e.admin, nil).want(204)
	got := e.do("POST", path+"/retry_failed", e.editor, nil)
	got.refused(422, knowledge.CodeInvalid)
	fresh := e.do("POST", importsPath, e.editor, importWith("of-nothing", ""))
	if diff := cmp.Diff(string(fresh.body), string(got.body)); diff != "" {
		t.Errorf("the refusal differs from the refusal of a name that does not exist: %s", diff)
	}
}
