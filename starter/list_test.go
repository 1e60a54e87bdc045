package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnEmptyListSaysSo has a server without anything. Programs read no header without rows.
func TestAnEmptyListSaysSo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"documents":[],"total":0,"id":"p-1"}`)
	}))
	t.Cleanup(server.Close)
	const run = "0c9d7a52-6a1f-4c1e-9d0a-7a55f4a1b001"
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"documents", "list"}, "no documents in project default; cairn ingest adds some\n"},
		{[]string{"documents", "list", "--status", "error"}, "no document of project default matches\n"},
		{[]string{"runs", "list"}, "no runs; cairn ingest and cairn ask start some\n"},
		{[]string{"runs", "list", "--kind", "query"}, "no run matches\n"},
		{[]string{"conversations", "list"}, "no conversations; cairn ask starts one\n"},
		{[]string{"conversations", "list", "--search", "pier"}, "no conversation matches\n"},
		{[]string{"imports", "list"}, "no imports; cairn import starts one\n"},
		{[]string{"imports", "list", "--project", "p-1"}, "no imports into project p-1; cairn import starts one\n"},
		{[]string{"imports", "failures", run}, "no object of this import failed\n"},
		{[]string{"keys", "list"}, "no keys; cairn keys create makes one\n"},
		{[]string{"secrets", "list"}, "no secrets; cairn secrets set stores one\n"},
		{[]string{"projects", "list"}, "no projects; cairn projects create makes one\n"},
	} {
		t.Run(fmt.Sprint(test.args), func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t, append(test.args, "--url", server.URL, "--key", "k")...)
			if code != exitDone || stdout != "" || stderr != test.says {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %q", code, stdout, stderr, test.says)
			}
		})
	}
}
