package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletionIsSyntaxOfTheShell has each shell that is installed parse its script.
func TestCompletionIsSyntaxOfTheShell(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			script := completionScript(t, shell)
			program := installedShell(t, shell)
			if out, err := exec.CommandContext(t.Context(), program, "-n", script).CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
		})
	}
	if code, _, stderr := command(t, "completion", "tcsh"); code != exitUsage || !strings.Contains(stderr, "tcsh") {
		t.Errorf("another shell: exit code %d, %s", code, stderr)
	}
}

// TestCompletion asks a shell with the script what follows command lines.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, ask := range map[string]string{
		"bash": `source "$1"; COMP_WORDS=($2); [[ "$2" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cairn; echo "${COMPREPLY[*]}"`,
		"fish": `source $argv[2]; complete -C $argv[3]`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			script := completionScript(t, shell)
			program := installedShell(t, shell)
			for line, want := range map[string]string{
				"cairn docu":                                  "documents",
				"cairn documents re":                          "remove reingest retry",
				"cairn documents list --wi":                   "--wide",
				"cairn documents list --status pu":            "published",
				"cairn documents --url http://x list --outpu": "--output",
				"cairn runs list --output ":                   "table json yaml",
				"cairn completion ":                           "bash zsh fish",
			} {
				out, err := exec.CommandContext(t.Context(), program, "-c", ask, shell, script, line).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got := strings.Fields(string(out))
				for _, word := range strings.Fields(want) {
					if !slices.Contains(got, word) {
						t.Errorf("after %q follows %q, want %q in it", line, got, word)
					}
				}
			}
		})
	}
}

func completionScript(t *testing.T, shell string) string {
	t.Helper()
	code, script, stderr := command(t, "completion", shell)
	if code != exitDone || !strings.Contains(script, "documents list") {
		t.Fatalf("exit code %d, %s\n%s", code, stderr, script)
	}
	path := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func installedShell(t *testing.T, shell string) string {
	t.Helper()
	program, err := exec.LookPath(shell)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed (apt-get install %s)", shell, shell)
		}
		t.Skipf("the script of completion for %s is checked by that shell: apt-get install %s", shell, shell)
	}
	return program
}
