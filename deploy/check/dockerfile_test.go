package check_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// stages parses the Dockerfile. A finding of BuildKit's linter fails the test.
func stages(t *testing.T) ([]instructions.Stage, []instructions.ArgCommand) {
	t.Helper()
	file, err := parser.Parse(bytes.NewReader(readFile(t, "deploy/Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range file.Warnings {
		t.Errorf("Dockerfile: %s", w.Short)
	}
	lint := linter.New(&linter.Config{ExperimentalAll: true, Warn: func(rule, _, _, message string, at []parser.Range) {
		t.Errorf("Dockerfile: %s: %s %v", rule, message, at)
	}})
	found, args, err := instructions.Parse(file.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	return found, args
}

// lineage returns the commands of a stage after the commands of the stages that it begins from.
func lineage(all []instructions.Stage, name string) []instructions.Command {
	for _, s := range all {
		if s.Name == name {
			return append(lineage(all, s.BaseName), s.Commands...)
		}
	}
	return nil
}

func TestImages(t *testing.T) {
	t.Parallel()
	all, args := stages(t)
	for _, arg := range args {
		checkPinned(t, *arg.Args[0].Value)
	}
	for target, tag := range map[string]bool{"api": true, "worker": true, "all-in-one": false} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			var user, entry, role string
			var healthy, component bool
			for _, command := range lineage(all, target) {
				switch c := command.(type) {
				case *instructions.UserCommand:
					user = c.User
				case *instructions.EntrypointCommand:
					entry = strings.Join(c.CmdLine, " ")
				case *instructions.CmdCommand:
					role = c.CmdLine[0]
				case *instructions.HealthCheckCommand:
					healthy = slices.Equal(c.Health.Test, []string{"CMD", "cairn", "health"})
				case *instructions.RunCommand:
					component = component || strings.Contains(strings.Join(c.CmdLine, " "), "libreoffice-core")
				case *instructions.CopyCommand:
					if from := lineage(all, c.From); strings.Contains(commands(from), "-tags cluster") != tag {
						t.Errorf("%s copies the command of %s", target, c.From)
					}
				}
			}
			if user != "10001:10001" || entry != "/usr/bin/tini -- cairn" || !healthy {
				t.Errorf("user %q, entrypoint %q, health check %v", user, entry, healthy)
			}
			if component != (target != "api") {
				t.Errorf("programs that read documents: %v", component)
			}
			if role != "up" {
				checkCommand(t, []string{role})
			}
			if out, _, code := cairn(t, nil, "health", "--help"); code != 0 || !strings.Contains(out, "/readyz") {
				t.Errorf("cairn health: %s", out)
			}
		})
	}
}

func commands(list []instructions.Command) string {
	var text strings.Builder
	for _, c := range list {
		if run, ok := c.(*instructions.RunCommand); ok {
			text.WriteString(strings.Join(run.CmdLine, " "))
		}
	}
	return text.String()
}

// TestBuildContext holds that .dockerignore leaves out no file that the build needs.
func TestBuildContext(t *testing.T) {
	t.Parallel()
	patterns, err := ignorefile.ReadAll(bytes.NewReader(readFile(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	needed := []string{"go.mod", "go.sum", "internal/embedded/absent/workercontroller/go.mod"}
	for _, tags := range []string{"", "cluster"} {
		needed = append(needed, sources(t, tags)...)
	}
	for _, file := range needed {
		if left, err := ignored.MatchesOrParentMatches(file); err != nil || left {
			t.Errorf(".dockerignore leaves out %s (%v)", file, err)
		}
	}
	for _, file := range []string{".env", ".git/config", "cairn-data/secret.key", "bin/cairn"} {
		if left, err := ignored.MatchesOrParentMatches(file); err != nil || !left {
			t.Errorf(".dockerignore lets %s into an image (%v)", file, err)
		}
	}
}

// sources returns the files of the repository that the command is built from.
func sources(t *testing.T, tags string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, "-json=Dir,GoFiles,EmbedFiles,Module,Standard", "./starter")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p struct {
			Dir                 string
			GoFiles, EmbedFiles []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		folder, err := filepath.Rel(base, p.Dir)
		if err != nil || strings.HasPrefix(folder, "..") {
			continue // another module
		}
		for _, file := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			files = append(files, filepath.Join(folder, file))
		}
	}
	if len(files) < 100 {
		t.Fatalf("%d files", len(files))
	}
	return files
}
