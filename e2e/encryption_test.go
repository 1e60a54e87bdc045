package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/envelope/envelopetest"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/workflows"
)

// secretWord is a word that must be in no blob and no history of an encrypted instance.
func secretWord(i int) string { return fmt.Sprintf("quillobasalt%04dz", i) }

const secretWords = 200

// wordsIn returns the secret words that stand in the blobs and the histories of a server, each
// with its file.
func (s *server) wordsIn(t *testing.T) (found []string) {
	t.Helper()
	for _, folder := range []string{"blobs", "temporal"} {
		files := 0
		err := filepath.WalkDir(filepath.Join(s.folder, folder), func(path string, e fs.DirEntry, err error) error {
			if os.IsNotExist(err) || err == nil && e.IsDir() {
				return nil // it was removed meanwhile, or has no bytes
			}
			if err != nil {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			for i := range secretWords {
				if bytes.Contains(data, []byte(secretWord(i))) {
					found = append(found, secretWord(i)+" in "+path)
				}
			}
			if os.IsNotExist(err) {
				return nil
			}
			return err
		})
		if err != nil || files == 0 {
			t.Fatalf("%d files in %s, %v", files, folder, err)
		}
	}
	return found
}

// tellSecrets uploads documents and asks questions with the secret words. Their answers and the
// failures of a document have them too.
func (s *server) tellSecrets(t *testing.T, m *modeltest.Server) {
	t.Helper()
	for i := 0; i < secretWords; i += 25 {
		var text strings.Builder
		for n := i; n < i+25; n++ {
			fmt.Fprintf(&text, "Station %d keeps the watchword %s.\n\n", n, secretWord(n))
		}
		if i == 50 {
			text.WriteString(strings.Repeat("Filling that makes the file a large one. ", 4000))
		}
		s.publishIn(t, "default", fmt.Sprintf("station-%d", i), text.String(), nil)
	}
	for i := range 4 {
		m.ScriptChat(modeltest.Text("It is " + secretWord(i*50) + ". <source_1>"))
		if answer := read(t, s.follow(t, s.query(t, "Is the watchword "+secretWord(i*50+1)+"?").run, 0)); !strings.Contains(answer.text, secretWord(i*50)) {
			t.Fatalf("question %d: %q", i, answer.text)
		}
	}
}

// encryptedBy returns the variable that names a new key file, and the file.
func encryptedBy(t *testing.T) (variable, path string) {
	t.Helper()
	path = envelopetest.KeyFile(t, 1)
	return "CAIRN_ENCRYPTION__KEY_FILE=" + path, path
}

// bootIn starts the server, which is stopped, on a folder and with other variables.
func (s *server) bootIn(folder string, env ...string) {
	s.t.Helper()
	s.folder = folder
	s.child = childserver.New(childserver.Config{Program: binary, Data: folder, Log: s.log, Env: env})
	s.boot()
}

// awaitSealed waits until all blobs are encrypted with the newest data key, which is not former.
func (s *server) awaitSealed(t *testing.T, former string) (state client.Encryption) {
	t.Helper()
	await(t, 90*time.Second, "all blobs are encrypted", func(ctx context.Context) error {
		var err error
		state, err = s.Encryption(ctx)
		if err == nil && (!state.On || state.DataKey == former || state.Blobs == nil || !state.Blobs.Done) {
			err = fmt.Errorf("the encryption is %+v", state)
		}
		return err
	})
	return state
}

// wantReadable checks that documents and answers are readable.
func (s *server) wantReadable(t *testing.T, m *modeltest.Server) {
	t.Helper()
	own := "/workspaces/default/documents/" + s.idOf(t, "station-50")
	if text := s.bodyOf(t, own+"/content"); !strings.Contains(text, secretWord(50)) {
		t.Errorf("the original is %.100q", text)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.ends.API+own+"/content", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Range", "bytes=120000-120009")
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var part bytes.Buffer
	if _, err := part.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusPartialContent || part.Len() != 10 {
		t.Errorf("ten bytes from the middle: status %d, %q, %v", res.StatusCode, part.String(), err)
	}
	m.ScriptChat(modeltest.Text("Indeed. <source_1>"))
	if answer := read(t, s.follow(t, s.query(t, "What is the watchword of station 7?").run, 0)); answer.text == "" {
		t.Error("a question has no answer")
	}
}

func TestNothingIsReadableInBlobsAndHistories(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	variable, path := encryptedBy(t)
	s := start(t, at(m.URL(), variable)...)
	s.tellSecrets(t, m)
	s.wantReadable(t, m)
	if found := s.wordsIn(t); len(found) > 0 {
		t.Errorf("%d secret words are readable, such as %s", len(found), found[0])
	}
	s.kill()
	if found := s.wordsIn(t); len(found) > 0 {
		t.Errorf("after a kill %d secret words are readable, such as %s", len(found), found[0])
	}
	s.restart()
	s.wantReadable(t, m)
	s.stop()

	t.Run("a wrong key and a missing key are refused", func(t *testing.T) {
		up := []string{"up", "--data", s.folder, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0"}
		wrong, _ := encryptedBy(t)
		for _, c := range []struct {
			env  []string
			says string
		}{
			{at(m.URL(), wrong), "put that key back into encryption.key_file"},
			{at(m.URL()), "none is configured: set encryption.key_file"},
			{at(m.URL(), "CAIRN_ENCRYPTION__KEY_FILE="+path+".gone"), "read encryption.key_file"},
		} {
			if code, _, stderr := command(t, c.env, up...); code == 0 || !strings.Contains(stderr, c.says) {
				t.Errorf("exit code %d, %s; want %q", code, stderr, c.says)
			}
		}
	})
}

// TestEncryptAnInstanceLater turns encryption on for a folder that has documents, and kills the
// server meanwhile.
func TestEncryptAnInstanceLater(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.tellSecrets(t, m)
	if found := s.wordsIn(t); len(found) < secretWords {
		t.Fatalf("%d secret words are readable without encryption: the test looks in the wrong place", len(found))
	}
	s.stop()
	variable, _ := encryptedBy(t)
	s.bootIn(s.folder, at(m.URL(), variable)...)
	s.wantReadable(t, m)
	s.kill()
	s.restart()
	state := s.awaitSealed(t, "")
	if state.Blobs.Encrypted < 20 {
		t.Errorf("%d blobs were encrypted anew", state.Blobs.Encrypted)
	}
	s.wantReadable(t, m)
	for _, found := range s.wordsIn(t) {
		if strings.Contains(found, string(filepath.Separator)+"blobs"+string(filepath.Separator)) {
			t.Errorf("it is readable still: %s", found)
		}
	}
	s.awaitClosed(t, workflows.ResealID)
	h := s.decrypted(t, s.history(t, workflows.ResealID))
	if *updateHistories {
		record(t, "reseal_blobs", h)
	}
}

// decrypted returns a history whose payloads the server has decrypted.
func (s *server) decrypted(t *testing.T, h *historypb.History) *historypb.History {
	t.Helper()
	raw, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	decoded := 0
	var walk func(node any)
	walk = func(node any) {
		switch n := node.(type) {
		case []any:
			for _, child := range n {
				walk(child)
			}
		case map[string]any:
			if n["metadata"] == nil {
				for _, child := range n {
					walk(child)
				}
				return
			}
			var answer struct{ Payloads []map[string]any }
			if status := s.call(t, "POST", "/codec/decode", map[string]any{"payloads": []any{n}}, &answer); status != http.StatusOK || len(answer.Payloads) != 1 {
				t.Fatalf("decode: status %d", status)
			}
			n["metadata"], n["data"] = answer.Payloads[0]["metadata"], answer.Payloads[0]["data"]
			decoded++
		}
	}
	walk(tree)
	if decoded == 0 {
		t.Error("the history has no payload")
	}
	raw, _ = json.Marshal(tree)
	plain := &historypb.History{}
	if err := protojson.Unmarshal(raw, plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestRotateDuringAnImport replaces the master key while an import runs.
func TestRotateDuringAnImport(t *testing.T) {
	t.Parallel()
	const documents = 300
	b := newBucket(t)
	b.fill("notes/", documents)
	m := standIn(t, modeltest.Options{})
	variable, path := encryptedBy(t)
	s := start(t, at(m.URL(), variable, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	before := s.awaitSealed(t, "")
	i := s.begin(t, client.NewImport{Source: b.source("notes/")})
	s.awaitPublishedObjects(t, i.ID, 20)

	former, _ := os.ReadFile(path)
	fresh, _ := os.ReadFile(envelopetest.KeyFile(t, 1))
	if err := os.WriteFile(path, append(bytes.Clone(fresh), former...), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := command(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}, "keys", "rotate")
	if code != 0 || !strings.Contains(out, "2 data keys") {
		t.Fatalf("keys rotate: exit code %d, %s%s", code, out, stderr)
	}
	if i = s.awaitImport(t, i.ID); i.Published != documents {
		t.Errorf("%d of %d objects were published", i.Published, documents)
	}
	after := s.awaitSealed(t, before.DataKey)
	if after.MasterKey == before.MasterKey {
		t.Error("the master key is the former one")
	}
	if err := os.WriteFile(path, fresh, 0o600); err != nil {
		t.Fatal(err)
	}
	s.kill()
	s.restart()
	imported := s.imported(t)
	for n := range documents {
		s.wantObject(t, imported, b.externalID(b.key("notes/", n)), password(n)+".", 1)
		if t.Failed() {
			return
		}
	}
}

// TestCodecEndpoint asks for the payloads of a history, with and without the right to them.
func TestCodecEndpoint(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	variable, _ := encryptedBy(t)
	s := start(t, at(m.URL(), variable)...)
	m.ScriptChat(modeltest.Text("It is " + secretWord(1) + "."))
	run := s.query(t, "What is the watchword?").run
	read(t, s.follow(t, run, 0))
	s.awaitClosed(t, "query/default/"+run)
	h := s.history(t, "query/default/"+run)
	if strings.Contains(plain(t, h), secretWord(1)) {
		t.Error("the history has the answer")
	}
	if said := plain(t, s.decrypted(t, h)); !strings.Contains(said, secretWord(1)) {
		t.Error("the decrypted history has no answer")
	}
	body := `{"payloads": [{"metadata": {"encoding": "anNvbi9wbGFpbg=="}, "data": "MQ=="}]}`
	for name, c := range map[string]struct {
		header []string
		want   int
	}{
		"the admin key of the instance":          {[]string{"Authorization", "Bearer " + s.key}, http.StatusOK},
		"an administrator of the workspace":      {[]string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "admin", "scopes": []string{"read", "write", "admin"}})}, http.StatusForbidden},
		"an administrator of another workspace":  {[]string{"Authorization", "Bearer " + s.otherKey(t)}, http.StatusForbidden},
		"nobody":                                 {[]string{"Authorization", "Bearer cairn_nobody"}, http.StatusUnauthorized},
		"the admin key through the Temporal UI":  {[]string{"Authorization", "Bearer " + s.key, "ui", ""}, http.StatusOK},
		"nobody through the Temporal UI":         {[]string{"Authorization", "Bearer cairn_nobody", "ui", ""}, http.StatusUnauthorized},
		"a foreign page through the Temporal UI": {[]string{"Authorization", "Bearer " + s.key, "ui", "", "Origin", "http://attacker.example"}, http.StatusForbidden},
	} {
		address := s.ends.API + "/codec/decode"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(c.header); i += 2 {
			if c.header[i] == "ui" {
				if request.URL, err = request.URL.Parse(s.ends.UI + "/codec/decode?preserveStorageRefs=true"); err != nil {
					t.Fatal(err)
				}
				request.Host = ""
				continue
			}
			request.Header.Set(c.header[i], c.header[i+1])
		}
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", name, res.StatusCode, c.want)
		}
	}
}
