package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/clamd/clamdtest"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// startScanned starts a server whose originals are scanned.
func startScanned(t *testing.T) (*server, *clamdtest.Server) {
	t.Helper()
	scanner := clamdtest.New(t, 1<<20)
	return start(t, at(standIn(t, modeltest.Options{}).URL(), "CAIRN_SCAN__CLAMD="+scanner.Address())...), scanner
}

// sendNote uploads a file and returns its document.
func (s *server) sendNote(t *testing.T, name, content string) client.Document {
	t.Helper()
	d, err := s.UploadFile(t.Context(), client.Upload{Project: "default", Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantRejected waits for the end of a document, which must be its rejection.
func (s *server) wantRejected(t *testing.T, id string) {
	t.Helper()
	await(t, time.Minute, "the document has ended", func(ctx context.Context) error {
		d, err := s.Document(ctx, id)
		if err == nil && d.Status == knowledge.StatusPending {
			err = fmt.Errorf("it is %s", d.Status)
		}
		return err
	})
	d := s.document(t, id)
	if d.Status != knowledge.StatusError || d.Error == nil || d.Error.Code != knowledge.CodeRejected || !strings.Contains(d.Error.Message, "Eicar-Test-Signature") {
		t.Errorf("the document is %s, %+v", d.Status, d.Error)
	}
	if status := s.call(t, "GET", "/workspaces/default/documents/"+id+"/content", nil, nil); status != http.StatusNotFound && status != http.StatusGone {
		t.Errorf("its original: status %d", status)
	}
	if audit := s.bodyOf(t, "/workspaces/default/audit?object="+id); !strings.Contains(audit, `"reject-original"`) {
		t.Errorf("the audit of the document is %s", audit)
	}
}

// letter returns a mail with an attachment.
func letter(attachment string) string {
	return "From: ann@example.com\r\nTo: bob@example.com\r\nSubject: Minutes\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=part\r\n\r\n--part\r\nContent-Type: text/plain\r\n\r\nThe minutes are attached.\r\n" +
		"--part\r\nContent-Type: text/plain; name=minutes.txt\r\nContent-Disposition: attachment; filename=minutes.txt\r\n\r\n" + attachment + "\r\n--part--\r\n"
}

func TestMalwareEndsAsRejected(t *testing.T) {
	t.Parallel()
	s, scanner := startScanned(t)
	clean := s.sendNote(t, "clean.md", "# Harbour\n\nThe harbour opens at five.")
	if _, err := s.Wait(t.Context(), clean.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if d := s.document(t, clean.ID); d.Status != knowledge.StatusPublished || scanner.Scanned() == 0 {
		t.Errorf("a clean document is %s, and %d files were scanned", d.Status, scanner.Scanned())
	}
	t.Run("an upload", func(t *testing.T) {
		s.wantRejected(t, s.sendNote(t, "letter.md", "# Letter\n\n"+clamdtest.EICAR()).ID)
	})
	t.Run("a mail, by its attachment", func(t *testing.T) {
		s.wantRejected(t, s.sendNote(t, "minutes.eml", letter(clamdtest.EICAR())).ID)
	})
	t.Run("a member of an archive", func(t *testing.T) {
		archive := pack(t, member{"good.md", "# Pier\n\nThe pier is long."}, member{"bad.md", "# Bad\n\n" + clamdtest.EICAR()})
		s.wantArchive(t, archive)
	})
	t.Run("what a server that was killed finds again", func(t *testing.T) {
		d := s.sendNote(t, "again.md", "# Again\n\n"+clamdtest.EICAR())
		s.kill()
		s.restart()
		s.wantRejected(t, d.ID)
	})
}

// wantArchive imports an archive with a clean member and one that is not.
func (s *server) wantArchive(t *testing.T, archive []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.zip")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}
	if _, _, said := command(t, env, "import", path, "--tag", "packed", "--wait"); !strings.Contains(said, "1 published, 0 skipped, 1 failed") {
		t.Errorf("the import says %q", said)
	}
	list, err := s.Imports(t.Context(), "", "", 1)
	if err != nil || len(list.Data) != 1 {
		t.Fatalf("imports: %v", err)
	}
	if codes := s.failureCodes(t, list.Data[0]); len(codes) != 1 || codes["bad.md"] != knowledge.CodeRejected {
		t.Errorf("the failures are %v", codes)
	}
	await(t, 30*time.Second, "the archive is removed", func(context.Context) error {
		if found := filesWith(t, filepath.Join(s.folder, "blobs"), "bad.md"); len(found) > 0 {
			return fmt.Errorf("it is in %v", found)
		}
		return nil
	})
}

// filesWith returns the large blobs below a folder that have a text.
func filesWith(t *testing.T, folder, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && (e.IsDir() || strings.HasPrefix(e.Name(), "small.db")) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		if os.IsNotExist(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDocumentsWaitForAScannerThatIsDown(t *testing.T) {
	t.Parallel()
	s, scanner := startScanned(t)
	scanner.Down()
	d := s.sendNote(t, "letter.md", "# Letter\n\nThe harbour opens at five.")
	const cause = "the malware scanner does not answer"
	await(t, time.Minute, "the document says why it waits", func(ctx context.Context) error {
		now, err := s.Document(ctx, d.ID)
		if err == nil && (now.Waiting == nil || !strings.Contains(now.Waiting.Message, cause)) {
			err = fmt.Errorf("it is %s, %+v", now.Status, now.Waiting)
		}
		return err
	})
	res, ready := s.raw(t, "GET", "/readyz", "", nil)
	if res.StatusCode != http.StatusOK || !strings.Contains(string(ready), `{"name":"scanner","status":"down"`) {
		t.Errorf("readyz: status %d, %s", res.StatusCode, ready)
	}
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key, "CAIRN_SCAN__CLAMD=" + scanner.Address()}
	if _, out, _ := command(t, env, "doctor"); !strings.Contains(out, "documents wait for it") {
		t.Errorf("doctor says nothing of the scanner:\n%s", out)
	}
	s.kill() // the wait outlives the server
	s.restart()
	if now := s.document(t, d.ID); now.Status != knowledge.StatusPending {
		t.Errorf("the document is %s", now.Status)
	}
	scanner.Up(t)
	if status := s.call(t, "POST", "/workspaces/default/documents/"+d.ID+"/retry", nil, nil); status >= 300 {
		t.Errorf("retry: status %d", status)
	}
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if now := s.document(t, d.ID); now.Status != knowledge.StatusPublished {
		t.Errorf("the document is %s, %+v", now.Status, now.Error)
	}
}
