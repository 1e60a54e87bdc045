package check_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = "../.."

// cairn runs the built command with nothing else in its environment.
func cairn(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	binary := os.Getenv("CAIRN_TEST_BINARY")
	if binary == "" {
		binary = filepath.Join(root, "bin", "cairn")
	}
	if _, err := os.Stat(binary); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the built command is needed: make build (%v)", err)
		}
		t.Skip("the built command is needed: make build, or set CAIRN_TEST_BINARY")
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{"HOME=" + t.TempDir()}, env...), &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

// effective is what the tests read of a configuration.
type effective struct {
	ShutdownSeconds int    `json:"shutdown_seconds"`
	SecretKey       string `json:"secret_key"`
	AdminKey        string `json:"admin_key"`
	Temporal        struct{ Address, Namespace string }
	Database        struct{ URL string }
	Vector          struct{ URL string }
	Blob            struct{ URL string }
}

// configOf loads the configuration of a process as the command does. Every key of the file
// and every variable that begins with CAIRN_ must be known.
func configOf(t *testing.T, file string, env []string) effective {
	t.Helper()
	out, errs, code := cairn(t, env, "config", "--config", file, "--json")
	if code != 0 || errs != "" {
		t.Fatalf("cairn config exits with %d: %s", code, errs)
	}
	var c effective
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatal(err)
	}
	if c.SecretKey == "" || c.AdminKey == "" {
		t.Error("the processes do not share admin_key and secret_key")
	}
	if c.Temporal.Address == "embedded" {
		t.Error("the processes do not share a Temporal server")
	}
	for _, url := range []string{c.Database.URL, c.Vector.URL, c.Blob.URL} {
		if strings.HasPrefix(url, "sqlite:") || strings.HasPrefix(url, "file:") {
			t.Errorf("the processes do not share %s", url)
		}
	}
	return c
}

// checkCommand fails unless the command knows the role and its flags.
func checkCommand(t *testing.T, args []string) {
	t.Helper()
	nowhere := filepath.Join(t.TempDir(), "nowhere.yaml")
	_, errs, code := cairn(t, nil, append(slices.Clone(args), "--config", nowhere)...)
	if code != 2 || !strings.Contains(errs, "nowhere.yaml") {
		t.Errorf("cairn %s is no command that reads a configuration: %s", strings.Join(args, " "), errs)
	}
}

// knownQueues returns the task queues that the command has.
func knownQueues(t *testing.T) []string {
	t.Helper()
	_, errs, _ := cairn(t, []string{"CAIRN_TEMPORAL__ADDRESS=localhost:1"}, "worker", "--queues", "nonsense", "--data", t.TempDir())
	_, list, found := strings.Cut(strings.TrimSpace(errs), "choose from ")
	if !found {
		t.Fatalf("cairn worker does not list its queues: %s", errs)
	}
	queues := strings.Split(list, ", ")
	slices.Sort(queues)
	return queues
}

// queuesOf returns the queues of a worker's arguments, nil for another role.
func queuesOf(args []string) []string {
	if len(args) == 0 || args[0] != "worker" {
		return nil
	}
	for _, arg := range args[1:] {
		if list, ok := strings.CutPrefix(arg, "--queues="); ok {
			return strings.Split(list, ",")
		}
	}
	return nil
}

// checkQueues fails unless the workers serve each queue once.
func checkQueues(t *testing.T, served []string) {
	t.Helper()
	slices.Sort(served)
	if want := knownQueues(t); !slices.Equal(served, want) {
		t.Errorf("the workers serve %q, the task queues are %q", served, want)
	}
}

// isRoute reports whether the API has GET path.
func isRoute(t *testing.T, path string) bool {
	t.Helper()
	var spec struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(readFile(t, "docs/openapi.json"), &spec); err != nil {
		t.Fatal(err)
	}
	return spec.Paths[path]["get"] != nil
}

var pinned = regexp.MustCompile(`^[a-z0-9./-]+(:[A-Za-z0-9][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?$`)

// checkPinned fails for an image without a version.
func checkPinned(t *testing.T, image string) {
	t.Helper()
	_, version, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !pinned.MatchString(image) || version == "" || strings.HasPrefix(version, "latest") {
		t.Errorf("the image %q has no version", image)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
