package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pairOf returns a measure whose rounds were old and current.
func pairOf(f figure, old, current []float64) []*pair {
	var pairs []*pair
	for i := range old {
		before, now := f, f
		before.value, now.value = old[i], current[i]
		pairs = collect(pairs, []figure{before}, []figure{now})
	}
	return pairs
}

func TestReport(t *testing.T) {
	t.Parallel()
	noisy := []float64{100, 140, 80, 120, 90}
	for _, test := range []struct {
		name         string
		figure       figure
		old, current []float64
		row          string
		worse        int
	}{
		{"a slower version is worse", lower("end ms", 0), []float64{100, 101, 99, 100, 100}, []float64{120, 121, 119, 121, 119}, "| 1.20 | 1.", 1},
		{"a machine whose speed drifts hides nothing", lower("end ms", 0), noisy, []float64{120, 168, 96, 144, 108}, "| 1.20 | 1.20 to 1.20 | worse |", 1},
		{"less throughput is worse", higher("a second", 0), []float64{60, 61, 60}, []float64{50, 50, 50.5}, "| worse |", 1},
		{"more throughput is better", higher("a second", 0), []float64{60, 61, 60}, []float64{80, 80, 81}, "| better |", 0},
		{"within the threshold is no fault", lower("end ms", 0), []float64{100, 101, 99}, []float64{103, 104, 102}, "|  |", 0},
		{"noise is no fault", lower("end ms", 0), noisy, []float64{130, 80, 120, 95, 140}, "|  |", 0},
		{"counts that are the same", lower("events", 0), []float64{14, 14}, []float64{14, 14}, "| 1.00 | 1.00 to 1.00 |  |", 0},
		{"zeros have no ratio", lower("lost", 0), []float64{0, 0}, []float64{0, 1}, "| lost | 0 | 1 | | | |", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			worse := comparison{threshold: 5}.report(&out, pairOf(test.figure, test.old, test.current))
			if worse != test.worse || !strings.Contains(out.String(), test.row) {
				t.Errorf("%d worse, want %d, and %q in\n%s", worse, test.worse, test.row, out.String())
			}
		})
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	pairs := collect(nil, []figure{lower("a", 1), lower("gone", 1)}, []figure{lower("new", 2), lower("a", 3)})
	if len(pairs) != 1 || pairs[0].name != "a" || pairs[0].old[0] != 1 || pairs[0].current[0] != 3 {
		t.Errorf("pairs %+v", pairs)
	}
}

// TestCompare runs a comparison whose measure reads its value from the binary.
func TestCompare(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.email", "test@example.com"},
		{"config", "user.name", "test"},
	} {
		git(t, args...)
	}
	write(t, "go.mod", "module example.com/base\n\ngo 1.22\n")
	write(t, "starter/main.go", "package main\n\nfunc main() {}\n")
	git(t, "add", ".")
	git(t, "commit", "-q", "-m", "base")
	write(t, "starter/main.go", "package main\n\nnothing that builds\n")

	var order []string
	value := map[bool]float64{true: 100, false: 150} // of the base and of the other
	m := measure{name: "one", run: func(_ context.Context, b *bench) ([]figure, error) {
		order = append(order, filepath.Base(b.binary))
		return []figure{lower("ms", value[b.binary != "new"])}, nil
	}}
	c := comparison{base: "HEAD", versions: "bin/versions", rounds: 2, threshold: 5}
	if err := c.run(t.Context(), &bench{binary: "new"}, []measure{m}); !errors.Is(err, errWorse) {
		t.Fatalf("the comparison returned %v, want that a measure is worse", err)
	}
	if len(order) != 4 || order[1] != "new" || order[2] != "new" || order[0] != order[3] {
		t.Errorf("the order was %v, want base, new, new, base", order)
	}
	kept := filepath.Join("bin", "versions", order[0])
	before, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	value[true] = 150
	if err := c.run(t.Context(), &bench{binary: "new"}, []measure{m}); err != nil {
		t.Errorf("versions that are the same: %v", err)
	}
	if after, err := os.Stat(kept); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the base was built again: %v", err)
	}
	if trees := git(t, "worktree", "list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", trees)
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
