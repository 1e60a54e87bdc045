package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/standin"
)

// masterKeyAt makes a key in a stand-in for AWS's key management service, and returns its address.
func masterKeyAt(t *testing.T, endpoint string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"X-Amz-Target": "TrentService.CreateKey", "Content-Type": "application/x-amz-json-1.1",
		"Authorization": "AWS4-HMAC-SHA256 Credential=id/20300101/eu-central-1/kms/aws4_request, SignedHeaders=host, Signature=none",
	} {
		request.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	var made struct{ KeyMetadata struct{ KeyId string } }
	if err == nil {
		err = json.Unmarshal(body, &made)
	}
	if err != nil || made.KeyMetadata.KeyId == "" {
		t.Fatalf("make a key: status %d, %v: %.300s", res.StatusCode, err, body)
	}
	return "awskms:///" + made.KeyMetadata.KeyId + "?region=eu-central-1&endpoint=" + endpoint
}

// TestMasterKeyInAService moves the master key of an instance from a file to a key management service,
// and refuses to start it with the key of another service.
func TestMasterKeyInAService(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	endpoint := standin.S3(t) // it serves keys too
	address := masterKeyAt(t, endpoint)
	aws := []string{"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "CAIRN_ENCRYPTION__KMS_URL=" + address}
	variable, path := encryptedBy(t)
	s := start(t, at(m.URL(), variable)...)
	s.tellSecrets(t, m)
	former := s.awaitSealed(t, "")
	s.stop()

	s.bootIn(s.folder, at(m.URL(), append(aws, variable)...)...)
	if code, _, stderr := command(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}, "keys", "rotate"); code != 0 {
		t.Fatalf("keys rotate: exit code %d, %s", code, stderr)
	}
	if now := s.awaitSealed(t, former.DataKey); !strings.HasPrefix(now.MasterKey, "awskms:///") || strings.Contains(now.MasterKey, endpoint) {
		t.Errorf("the master key is %s", now.MasterKey)
	}
	s.stop()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.bootIn(s.folder, at(m.URL(), aws...)...)
	s.wantReadable(t, m)
	if found := s.wordsIn(t); len(found) > 0 {
		t.Errorf("%d secret words are readable, such as %s", len(found), found[0])
	}
	s.stop()

	aws[2] = "CAIRN_ENCRYPTION__KMS_URL=" + masterKeyAt(t, standin.S3(t))
	up := []string{"up", "--data", s.folder, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0"}
	if code, _, stderr := command(t, at(m.URL(), aws...), up...); code == 0 || !strings.Contains(stderr, "does not open the data keys") {
		t.Errorf("with a key of another service: exit code %d, %s", code, stderr)
	}
}
