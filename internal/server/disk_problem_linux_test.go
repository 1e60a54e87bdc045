package server

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDiskProblem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		size, code string
		readOnly   bool
	}{
		"a disk with room":                        {size: "64M"},
		"a disk with less than uploads need":      {size: "8M", code: "full"},
		"a disk that was mounted again read-only": {size: "64M", readOnly: true, code: "read_only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size="+test.size); err != nil {
				what := "this test mounts a small tmpfs; run it as root: " + err.Error()
				if os.Getenv("CI") != "" {
					t.Fatal(what)
				}
				t.Skip(what)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			if test.readOnly {
				if err := unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
					t.Fatal(err)
				}
			}
			problem := diskProblem([]string{t.TempDir() + "/missing", folder})
			switch {
			case test.code == "":
				if problem != nil {
					t.Errorf("it has the problem %+v", problem)
				}
			case problem == nil || problem.Code != test.code || problem.NeededBytes != leastForUploads || strings.Contains(problem.Message, folder):
				t.Errorf("the problem is %+v, want %s without a path", problem, test.code)
			}
		})
	}
}
