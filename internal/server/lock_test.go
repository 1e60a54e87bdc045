package server

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
)

func TestAFolderInUseNamesTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for pid, address := range map[int]string{os.Getpid(): " at http://127.0.0.1:1;", os.Getpid() + 1: ";"} {
		if err := (childserver.Endpoints{API: "http://127.0.0.1:1", PID: pid}).Write(dir); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("in use by process %d%s", os.Getpid(), address)
		if _, err := lockFolder(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
