package sourcetest

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a repository that the program git serves over HTTP. It implements
// http.Handler.
type Repository struct {
	t    *testing.T
	work string // its working tree
	http cgi.Handler
}

// NewRepository returns a repository with the branch main and without a commit. The path of
// its address is GitPath.
func NewRepository(t *testing.T) *Repository {
	t.Helper()
	program, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("the program git is not installed")
	}
	root := t.TempDir()
	r := &Repository{t: t, work: filepath.Join(root, "work"), http: cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(program)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}, Stderr: t.Output(),
	}}
	if err := os.Mkdir(r.work, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Git("init", "--quiet", "--initial-branch=main")
	r.Git("config", "uploadpack.allowFilter", "true")
	if err := os.Symlink(filepath.Join(r.work, ".git"), filepath.Join(root, filepath.Base(GitPath))); err != nil {
		t.Fatal(err)
	}
	return r
}

// ServeHTTP implements http.Handler.
func (r *Repository) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h := r.http
	h.Env = append(h.Env[:len(h.Env):len(h.Env)], "GIT_PROTOCOL="+q.Header.Get("Git-Protocol"))
	h.ServeHTTP(w, q)
}

// Git runs git in the working tree, and returns what it says.
func (r *Repository) Git(arguments ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-C", r.work, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "gc.auto=0"}, arguments...)...)
	c.Env = append(c.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file of the working tree.
func (r *Repository) Write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.work, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// Commit commits the working tree as it is, and returns the name of the commit.
func (r *Repository) Commit() string {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", "light")
	return r.Git("rev-parse", "HEAD")
}

// Rewrite replaces the history by one commit of the working tree, and removes what was before.
func (r *Repository) Rewrite() {
	r.t.Helper()
	r.Git("add", "--all")
	tree := r.Git("write-tree")
	r.Git("reset", "--quiet", "--soft", r.Git("commit-tree", "-m", "light", tree))
	r.Git("reflog", "expire", "--expire=now", "--all")
	r.Git("gc", "--quiet", "--prune=now")
}
