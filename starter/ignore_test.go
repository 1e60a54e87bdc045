package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ignored are folders of files and the rules in them. git decides what is right.
var ignored = map[string]struct {
	rules map[string]string // text of the ignore file by folder
	files []string
}{
	"names":                            {rules("*.log\nbuild/\n\n# comment\n\\#odd\n\\!odd"), list("a.log", "x/b.log", "a.txt", "build/x", "x/build/y", "x/build2", "#odd", "!odd", "x/#odd")},
	"a_file_like_it":                   {rules("build/\n"), list("build", "x/build/y")},
	"anchored":                         {rules("/top.txt\nx/y.txt\n/z/\n"), list("top.txt", "x/top.txt", "x/y.txt", "a/x/y.txt", "z/1", "a/z/1")},
	"stars":                            {rules("**/deep\na/**/b\nc/**\nx*z\nd**e\n"), list("deep", "q/deep", "r/deep/1", "a/b", "a/x/b", "a/x/y/b/1", "c/1", "c/2/3", "xyz", "x/z", "dxxe", "d/e", "q/dxe")},
	"question_marks":                   {rules("a?.txt\n?\n"), list("ab.txt", "a.txt", "abc.txt", "x", "xy", "d/x")},
	"classes":                          {rules("[a-c].txt\n[!x]y\n[]]\n"), list("a.txt", "d.txt", "xy", "ay", "]", "q/b.txt")},
	"braces":                           {rules("{a,b}.txt\n"), list("a.txt", "b.txt", "{a,b}.txt")},
	"negation":                         {rules("*.txt\n!keep.txt\n"), list("a.txt", "keep.txt", "x/keep.txt", "x/b.txt")},
	"the_last_wins":                    {rules("!a.txt\n*.txt\n"), list("a.txt")},
	"inside_a_folder_that_is_left_out": {rules("x/\n!x/keep.txt\n"), list("x/keep.txt", "x/a.txt")},
	"inside_a_folder_that_is_kept":     {rules("x/*\n!x/keep.txt\n"), list("x/keep.txt", "x/a.txt", "x/y/b.txt")},
	"all_but":                          {rules("/*\n!/docs\n/docs/*\n!/docs/*.md\n"), list("a.md", "docs/a.md", "docs/a.txt", "docs/x/b.md", "src/c.md")},
	"contents_of_a_folder":             {rules("x/**\n!x/keep.txt\n"), list("x/keep.txt", "x/a.txt")},
	"spaces":                           {rules("a.txt   \nb\\ \n  c.txt\nd e.txt\r\n"), list("a.txt", "b ", "b", "c.txt", "  c.txt", "d e.txt")},
	"escapes":                          {rules("\\*.txt\n\\[x\\]\n"), list("*.txt", "a.txt", "[x]", "x")},
	"folders_below": {map[string]string{".": "*.txt\n", "sub": "!keep.txt\n/only.md\n*.pdf\n", "sub/deep": "!x.pdf\n"},
		list("keep.txt", "sub/keep.txt", "sub/a.txt", "sub/only.md", "sub/deep/only.md", "sub/deep/keep.txt", "only.md", "sub/x.pdf", "sub/deep/x.pdf", "x.pdf")},
	"letters": {rules("Ünï*\n文書/\n"), list("Ünïcode.txt", "文書/a", "other/文書/b")},
}

func rules(text string) map[string]string { return map[string]string{".": text} }

func list(files ...string) []string { return files }

func TestIgnoreFiles(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("this test compares with git; install git")
		}
		t.Skip("this test compares with git; install git")
	}
	for name, c := range ignored {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, c.files...)
			for folder, text := range c.rules {
				for _, file := range []string{ignoreFile, ".gitignore"} {
					if err := os.WriteFile(filepath.Join(dir, folder, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			g, err := gather([]source{source(dir)}, "", "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range g.entries {
				got = append(got, e.externalID)
			}
			slices.Sort(got)
			if diff := cmp.Diff(keptByGit(t, dir), got); diff != "" {
				t.Errorf("(-git +got):\n%s", diff)
			}
		})
	}
}

// keptByGit returns the files of a folder that git does not ignore.
func keptByGit(t *testing.T, dir string) []string {
	t.Helper()
	git := func(args ...string) string {
		command := exec.Command("git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	var kept []string
	for _, file := range strings.Split(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
		if file != "" && !strings.HasPrefix(filepath.Base(file), ".") {
			kept = append(kept, file)
		}
	}
	slices.Sort(kept)
	return kept
}

func TestIgnoreFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, "a.md", "sub/b.md", "sub/deep/c.md", "z.md")
	if err := os.WriteFile(filepath.Join(dir, "sub", ignoreFile), []byte("ok\n[a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := gather([]source{source(dir)}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range g.entries {
		got[e.name] = ""
		if e.unsent != nil {
			got[e.name] = e.unsent.Outcome + ": " + e.unsent.Error
		}
	}
	want := map[string]string{"a.md": "", "z.md": "", "sub/.cairnignore": "failed: line 2 of .cairnignore is no pattern; nothing of the folder is sent"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
