package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/standin"
)

// lockedBucket makes a bucket whose objects nobody can change or delete for a day, and returns its
// address and a function that lists it.
func lockedBucket(t *testing.T) (address string, list func() string) {
	t.Helper()
	endpoint := standin.S3(t)
	send := func(method, path, body string, header ...string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, endpoint+"/proof"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=id/20300101/eu-central-1/s3/aws4_request, SignedHeaders=host, Signature=none")
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s: status %d, %v: %.300s", method, path, res.StatusCode, err, answer)
		}
		return string(answer)
	}
	send("PUT", "", "<CreateBucketConfiguration><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>", "x-amz-bucket-object-lock-enabled", "true")
	send("PUT", "?object-lock", "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>")
	return "s3://proof/cairn?region=eu-central-1&endpoint=" + endpoint, func() string { return send("GET", "?versions", "") }
}

// TestCheckpointsInALockedBucket puts an old copy of the database and of the journal in the place of the present ones. The
// checkpoints in the bucket know the entries that it lacks.
func TestCheckpointsInALockedBucket(t *testing.T) {
	t.Parallel()
	address, list := lockedBucket(t)
	s := start(t, "CAIRN_AUDIT__CHECKPOINTS="+address, "CAIRN_AUDIT__CREDENTIALS_ENV=PROOF", `PROOF={"access_key_id": "id", "secret_access_key": "secret"}`)
	document := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	s.stop()
	old := map[string][]byte{}
	for _, name := range []string{"cairn.db", "audit.journal"} { // the journal alone would bring the entries back
		data, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		old[name] = data
	}
	s.boot()
	for range 3 {
		s.pass(t, "GET", "/workspaces/default/documents/"+document+"/content", "")
	}
	versions := strings.Count(list(), "<Version>")
	await(t, 3*time.Minute, "two checkpoints more are in the bucket", func(context.Context) error { // the first may be of before
		s.pass(t, "GET", "/workspaces/default/documents/"+document+"/content", "")
		if now := strings.Count(list(), "<Version>"); now < versions+2 {
			return fmt.Errorf("there are %d of %d", now, versions+2)
		}
		return nil
	})
	verify := func() (int, string) {
		code, out, said := command(t, nil, "audit", "verify", "--url", s.ends.API, "--key", s.key)
		return code, out + said
	}
	if code, said := verify(); code != 0 {
		t.Errorf("the present database: exit code %d, %s", code, said)
	}
	s.stop()
	for name, data := range old {
		if err := os.WriteFile(filepath.Join(s.folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.boot()
	if code, said := verify(); code != 1 || !strings.Contains(said, "(tail)") && !strings.Contains(said, "(replaced)") {
		t.Errorf("an old copy: exit code %d, %s", code, said)
	}
}
