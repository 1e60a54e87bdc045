package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// succeed runs the program under test with variables.
func succeed(t *testing.T, env []string, args ...string) {
	t.Helper()
	if code, _, stderr := command(t, env, args...); code != 0 {
		t.Fatalf("cairn %s: code %d: %s", args[0], code, stderr)
	}
}

// TestAnInstanceMovesToServicesAndBack moves a server from the stores of its data folder to
// PostgreSQL, Milvus and a bucket, and back. Documents, their versions and passages, keys
// and answers stay what they are, and no text is embedded again.
func TestAnInstanceMovesToServicesAndBack(t *testing.T) {
	t.Parallel()
	const documents = 6
	m := standIn(t, modeltest.Options{})
	bucket, index := newBlobBucket(t), milvusServer(t)
	services := append(bucket.env(), "CAIRN_DATABASE__URL="+postgrestest.Empty(t), "CAIRN_VECTOR__URL="+index.MilvusURL())
	s := start(t, at(m.URL())...)
	list := make([]accepted, documents)
	for i := range list {
		list[i] = s.uploadThrough(t, i)
	}
	s.awaitPublished(t, documents)
	asked := s.query(t, "What is the watchword of station 1?")
	before := read(t, s.follow(t, asked.run, 0))

	export, texts := filepath.Join(t.TempDir(), "one.cairn"), m.Totals().Texts
	move := func(file string, from, to []string) {
		t.Helper()
		s.stop()
		succeed(t, from, "export", file, "--data", s.folder)
		secret, err := os.ReadFile(filepath.Join(s.folder, "secret.key"))
		if err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(filepath.Join(s.folder, "admin.key"))
		if err != nil {
			t.Fatal(err)
		}
		s.folder = filepath.Join(t.TempDir(), "data folder")
		if err := os.MkdirAll(s.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"secret.key": secret, "admin.key": key} {
			if err := os.WriteFile(filepath.Join(s.folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		succeed(t, to, "import-instance", file, "--data", s.folder)
		s.child = childserver.New(childserver.Config{Program: binary, Data: s.folder, Log: s.log, Env: at(m.URL(), to...)})
		s.boot()
		succeed(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}, "rebuild-index")
	}
	check := func(where string) {
		t.Helper()
		s.awaitPublished(t, documents)
		for i, a := range list {
			s.wantOnce(t, a, i)
		}
		if after := read(t, s.follow(t, asked.run, 0)); after.text != before.text {
			t.Errorf("%s: the answer is %q, was %q", where, after.text, before.text)
		}
		if answer := read(t, s.follow(t, s.query(t, "What is the watchword of station 2?").run, 0)); answer.last.Name != client.EventCompleted || answer.text == "" {
			t.Errorf("%s: a new answer is %+v", where, answer)
		}
	}
	move(export, nil, services)
	if n := m.Totals().Texts - texts; n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
	if _, err := os.Stat(filepath.Join(s.folder, "cairn.db")); err == nil {
		t.Error("there is a SQLite file, too")
	}
	check("in the services")
	texts = m.Totals().Texts
	move(export+".back", services, nil)
	if n := m.Totals().Texts - texts; n != 0 {
		t.Errorf("%d texts were embedded again on the way back", n)
	}
	bucket.stop()
	check("back in the folder")
	s.stop()
	bucket.start() // for the clean-up
}
