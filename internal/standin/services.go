package standin

import (
	"regexp"
	"testing"
)

// S3 starts moto and returns its endpoint. It accepts any credentials.
func S3(t *testing.T) string {
	t.Helper()
	program := Program{
		Path:    "moto/bin/moto_server",
		Install: "python3 -m venv bin/tools/moto && bin/tools/moto/bin/pip install 'moto[s3]==5.1.16' flask==3.1.3 flask-cors==6.0.5",
	}
	return program.Start(t, regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`), "-H", "127.0.0.1", "-p", "0")
}

// GCS starts fake-gcs-server and returns its endpoint. It needs no credentials.
func GCS(t *testing.T) string {
	t.Helper()
	program := Program{Path: "fake-gcs-server", Install: "GOBIN=$PWD/bin/tools go install github.com/fsouza/fake-gcs-server@v1.56.1"}
	return program.StartAt(t, func(port string) []string {
		return []string{"-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-log-level", "error"}
	})
}

// Azure starts azurite with an account and its key, and returns the endpoint of the
// account.
func Azure(t *testing.T, account, key string) string {
	t.Helper()
	program := Program{
		Path: "node_modules/.bin/azurite-blob", Install: "npm install --prefix bin/tools azurite@3.37.0",
		Env: []string{"AZURITE_ACCOUNTS=" + account + ":" + key},
	}
	return program.Start(t, regexp.MustCompile(`listens on (\S+)`),
		"--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", "0") + "/" + account
}
