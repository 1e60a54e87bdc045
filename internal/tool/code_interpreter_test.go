package tool_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/sandbox"
	"github.com/cairn-rag/cairn/internal/tool"
)

// runner is a sandbox that does what run says.
type runner func(job sandbox.Job) (sandbox.Result, error)

// Run implements tool.Runner.
func (r runner) Run(_ context.Context, job sandbox.Job) (sandbox.Result, error) { return r(job) }

// interpreter returns a code_interpreter over a conversation with sales.csv.
func interpreter(t *testing.T, r tool.Runner) tool.Tool {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return tool.NewCodeInterpreter(tool.Interpreter{
		Runner: r, Folder: runfile.NewFolder(blobs), Files: runfile.New(blobs), Languages: []sandbox.Language{sandbox.Python},
		Attached: func(context.Context, tool.Call) (map[string][]byte, error) {
			return map[string][]byte{"sales.csv": []byte("month,sold\n1,3\n2,5\n")}, nil
		},
	})
}

func code(turn, number int, text string) tool.Call {
	return tool.Call{
		RunRef: knowledge.RunRef{Workspace: "w", Run: "r"}, Turn: turn, Number: number,
		Arguments: `{"language":"python","code":` + quoted(text) + `}`,
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text) + `"`
}

func TestCodeInterpreter(t *testing.T) {
	t.Parallel()

	t.Run("wrong_arguments_are_refused", func(t *testing.T) {
		t.Parallel()
		c := interpreter(t, runner(func(sandbox.Job) (sandbox.Result, error) { return sandbox.Result{}, errors.New("it ran") }))
		for _, arguments := range []string{`{"language":"ruby","code":"x"}`, `{"language":"javascript","code":"x"}`, `{"code":"x"}`, `{"language":"python","code":""}`, `{"language":"python","code":7}`, `{"language":"python","code":"x","more":1}`} {
			if err := c.CheckArguments(arguments); !knowledge.IsCode(err, knowledge.CodeInvalid) {
				t.Errorf("%s: %v", arguments, err)
			}
		}
		_, err := c.Run(t.Context(), code(1, 0, strings.Repeat("x", 100_001)))
		if !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("code that is too long: %v", err)
		}
	})

	t.Run("the_model_reads_what_happened_and_where_the_files_are", func(t *testing.T) {
		t.Parallel()
		c := interpreter(t, runner(func(sandbox.Job) (sandbox.Result, error) {
			return sandbox.Result{
				ExitCode: 1, Stdout: "8\n", Stderr: "ValueError: x", Stopped: "it ran longer than 1m0s", LeftOut: []string{`"link": it is not a regular file`},
				Files: map[string][]byte{"my plot.png": []byte("\x89PNG\r\n\x1a\n")},
			}, nil
		}))
		out, err := c.Run(t.Context(), code(1, 0, "x"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{
			"stopped: it ran longer than 1m0s", "8\n", "Standard error:\nValueError: x", "my_plot.png (image/png, 8 bytes): /runs/r/files/my_plot.png", `Not kept: "link"`,
		} {
			if !strings.Contains(out.Words, part) {
				t.Errorf("%q is not in:\n%s", part, out.Words)
			}
		}
	})

	t.Run("in_a_real_sandbox", func(t *testing.T) {
		t.Parallel()
		box := sandbox.New(sandbox.Config{})
		if err := box.Available(); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		c := interpreter(t, box)
		first, err := c.Run(t.Context(), code(1, 0, "import pandas as pd\nd = pd.read_csv('sales.csv')\nd.plot()\nd.to_pickle('d.pkl')\nd.sold.sum()"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := c.Run(t.Context(), code(2, 0, "import pandas as pd\npd.read_pickle('d.pkl').sold.max() / 0"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(first.Words, "8\n") || len(first.Files) != 2 || first.Files[1].MediaType != "image/png" || len(second.Files) != 0 {
			t.Errorf("%s\n%s", first.Words, second.Words)
		}
	})
}

func TestWorkingFolderOfCode(t *testing.T) {
	t.Parallel()

	t.Run("the_working_folder_lasts_from_turn_to_turn", func(t *testing.T) {
		t.Parallel()
		var folders []string
		c := interpreter(t, runner(func(job sandbox.Job) (sandbox.Result, error) {
			after := map[string][]byte{}
			maps.Copy(after, job.Files)
			var seen []string
			for _, name := range slices.Sorted(maps.Keys(job.Files)) {
				seen = append(seen, name+"="+strings.SplitN(string(job.Files[name]), "\n", 2)[0])
			}
			folders = append(folders, strings.Join(seen, " "))
			for change := range strings.FieldsSeq(job.Code) {
				name, content, _ := strings.Cut(change, "=")
				if after[name] = []byte(content); content == "-" {
					delete(after, name)
				}
			}
			return sandbox.Result{Files: after}, nil
		}))
		var files []string
		for _, call := range []tool.Call{
			code(1, 0, "a=1 b/c=1 empty="), code(1, 0, "a=1 b/c=1 empty="), code(1, 1, "d=1"), // the second repeats the first
			code(2, 0, "a=2 d=- sales.csv=mine"), code(3, 0, " "), code(4, 0, "sales.csv=-"), code(5, 0, " "),
		} {
			out, err := c.Run(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Files {
				files = append(files, f.Name)
			}
		}
		want := []string{
			"sales.csv=month,sold", "sales.csv=month,sold", "sales.csv=month,sold",
			"a=1 b/c=1 d=1 empty= sales.csv=month,sold", "a=2 b/c=1 empty= sales.csv=mine", "a=2 b/c=1 empty= sales.csv=mine", "a=2 b/c=1 empty=",
		}
		if diff := cmp.Diff(want, folders); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"a", "b_c", "empty", "a", "b_c", "empty", "d-1-1", "a-2-0", "sales.csv"}, files); diff != "" {
			t.Error(diff)
		}
	})
}
