package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bucket.json")
	if err := os.WriteFile(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, config.Options{
		File:    file(t, "secrets:\n  from-file: file:"+path+"\n  from-env: env:BUCKET\n"),
		Environ: []string{"BUCKET=hidden", "CAIRN_SECRETS__BY_VARIABLE=env:BUCKET"},
	})
	for name, want := range map[string]string{"from-file": "first", "from-env": "hidden", "by_variable": "hidden"} {
		got, err := c.Secret(name)
		if err != nil || string(got) != want {
			t.Errorf("secret %s is %q, %v", name, got, err)
		}
	}
	if err := os.WriteFile(path, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Secret("from-file"); err != nil || string(got) != "second" {
		t.Errorf("after a change of the file it is %q, %v", got, err)
	}
	if _, err := c.Secret("other"); !errors.Is(err, config.ErrNoSecret) {
		t.Errorf("a secret that is not there: %v", err)
	}
	shown := c.Masked()
	if strings.Contains(shown, "hidden") || !strings.Contains(shown, "from-env:\n    value: env:BUCKET") {
		t.Errorf("shown as\n%s", shown)
	}
	again := load(t, config.Options{File: file(t, shown), Environ: []string{"BUCKET=hidden"}})
	if len(again.Secrets) != 3 {
		t.Errorf("read back as %v", again.Secrets)
	}
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"secrets:\n  a: env:MISSING":                                     "names the environment variable MISSING, which is not set",
		"secrets:\n  a: hunter2":                                         "write env:VARIABLE or file:/absolute/path, not the secret itself",
		"secrets:\n  a: file:b.json":                                     "write env:VARIABLE or file:/absolute/path",
		"secrets:\n  A B: env:PATH":                                      "a name has lower case letters",
		"secrets: env:PATH":                                              "secrets",
		"secrets:\n  a: {value: hunter2, workspace: w}":                  "write env:VARIABLE or file:/absolute/path, not the secret itself",
		"secrets:\n  a: {workspace: w}":                                  "write env:VARIABLE or file:/absolute/path",
		"secrets:\n  a: {value: env:PATH, project: p}":                   "secrets.a.workspace is needed",
		"secrets:\n  a: {value: env:PATH, uses: [query]}":                "secrets.a.uses has \"query\"",
		"secrets:\n  a: {value: env:PATH, hosts: ['https://x.net']}":     "secrets.a.hosts has \"https://x.net\"",
		"secrets:\n  a: {value: env:PATH, hosts: ['*']}":                 "secrets.a.hosts has \"*\"",
		"secrets:\n  a: {value: env:PATH, owner: w}":                     `unknown key "secrets.a.owner"; the nearest is "secrets.<name>.`,
		"secrets: {a: 'env:PATH'}\nsecret_hosts: {a: [api.example.com]}": "secret_hosts.a has moved: write its hosts as secrets.a.hosts",
	} {
		_, err := config.Load(config.Options{File: file(t, text), Environ: []string{"PATH=/bin"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error %v has the value", text, err)
		}
	}
}

func TestOwnersOfSecrets(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{
		File: file(t, "secrets:\n  shop: {value: env:A, workspace: acme, project: p, uses: [header, import], hosts: [api.example.com]}\n  mixed: env:A\n"),
		Environ: []string{
			"A=a", "CAIRN_SECRETS__WIDE__VALUE=env:A", "CAIRN_SECRETS__WIDE__WORKSPACE=acme", "CAIRN_SECRETS__WIDE__USES=import",
			"CAIRN_SECRETS__WIDE__HOSTS=*.example.org, 10.0.0.1", "CAIRN_SECRETS__MIXED__WORKSPACE=acme", "CAIRN_SECRETS__MIXED__USES=header", "CAIRN_SECRETS__MIXED__HOSTS=x.net",
			"CAIRN_IMPORT__AMBIENT_IDENTITY=acme, other",
		},
	})
	want := []knowledge.Secret{
		{Name: "mixed", Workspace: "acme", Uses: []knowledge.SecretUse{knowledge.SecretInHeader}, Hosts: []string{"x.net"}},
		{Name: "shop", Workspace: "acme", Project: "p", Uses: []knowledge.SecretUse{knowledge.SecretInHeader, knowledge.SecretInImport}, Hosts: []string{"api.example.com"}},
		{Name: "wide", Workspace: "acme", Uses: []knowledge.SecretUse{knowledge.SecretInImport}, Hosts: []string{"*.example.org", "10.0.0.1"}},
	}
	if diff := cmp.Diff(want, c.NamedSecrets()); diff != "" || len(c.Warnings) > 0 {
		t.Errorf("warnings %q, secrets %s", c.Warnings, diff)
	}
	if diff := cmp.Diff([]string{"acme", "other"}, c.Import.AmbientIdentity); diff != "" {
		t.Error(diff)
	}
	again := load(t, config.Options{File: file(t, c.Masked()), Environ: []string{"A=a"}})
	if diff := cmp.Diff(c.Secrets, again.Secrets); diff != "" {
		t.Errorf("read back from\n%s\n%s", c.Masked(), diff)
	}
}

// TestClosedSecrets reads the configurations of earlier versions: their secrets belong to
// nobody, and the operator is told what to write.
func TestClosedSecrets(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{
		File:    file(t, "secrets: {old: 'env:A', half: {value: 'file:/etc/hosts', workspace: acme, hosts: ['*.x.net']}}"),
		Environ: []string{"A=hidden", "CAIRN_SECRET_HOSTS__OLD=api.example.com"},
	})
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{
		"CAIRN_SECRET_HOSTS__OLD is ignored: secret_hosts.old has moved: write its hosts as secrets.old.hosts (in the environment CAIRN_SECRETS__OLD__HOSTS)",
		"secrets.old cannot be used by any project, because it does not name its workspace, uses, hosts: write secrets: {old: {value: 'env:A', workspace: WORKSPACE, uses: [header], hosts: [api.example.com]}}",
		"secrets.half cannot be used by any project, because it does not name its uses: write secrets: {half: {value: 'file:/etc/hosts', workspace: acme, uses: [header], hosts: ['*.x.net']}}",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "hidden") {
		t.Errorf("a warning has the value:\n%s", all)
	}
	for _, s := range c.NamedSecrets() {
		if s.Name == "old" && (s.BelongsTo("acme", "p") || s.BelongsTo("", "")) {
			t.Errorf("%+v has an owner", s)
		}
	}
}
