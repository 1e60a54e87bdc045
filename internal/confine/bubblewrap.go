package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folder is the path at which a confined program sees its folder, which is also its
// working folder and the only one, beside a small /tmp, in which it can write.
const Folder = "/job"

// Program is the path at which a confined program sees itself.
const Program = "/program"

// Bubblewrap is the name of the program that confines others.
const Bubblewrap = "bwrap"

// tmpBytes bounds the files in /tmp, which are in memory. Some programs make sockets
// there, whatever TMPDIR says.
const tmpBytes = 64 << 20

// View is what a confined program sees beside the system's programs, libraries and fonts.
// All paths are absolute.
type View struct {
	Program  string   // of the program itself
	Folder   string   // seen at the path Folder
	ReadOnly []string // further files and folders, seen at their own paths
	Writable []string // further folders, seen at their own paths
	// Tools are the programs that it may run. One that is not among the system's is seen
	// with the folder in which it is installed.
	Tools []string
	// Hidden are folders that it does not see, even if they are in one that it sees.
	Hidden []string
}

// system are the files and folders of the system that every program sees, if they exist:
// programs and libraries, fonts, and the settings of LibreOffice.
var system = []string{
	"/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/libreoffice", "/etc/localtime", "/nix/store", "/var/cache/fontconfig",
}

// Arguments returns the arguments with which bubblewrap runs a program: the arguments of
// bubblewrap, the program, and then arguments. The program has the variables of the
// environment ("NAME=value") and no others. There is no /proc, so it sees no process, not
// even itself.
func Arguments(v View, environment []string, arguments ...string) []string {
	args := []string{
		"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "confined",
		"--dev", "/dev", "--size", strconv.Itoa(tmpBytes), "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr",
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(name); err == nil {
			args = append(args, "--symlink", target, name)
		} else {
			args = append(args, "--ro-bind-try", name, name)
		}
	}
	for _, path := range slices.Concat(system, installed(v.Tools)) {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range v.Hidden {
		if isBelow(path, append(installed(v.Tools), "/usr", "/nix/store")...) {
			args = append(args, "--tmpfs", path)
		}
	}
	for _, path := range v.ReadOnly {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range v.Writable {
		args = append(args, "--bind", path, path)
	}
	args = append(args, "--ro-bind", v.Program, Program, "--bind", v.Folder, Folder, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", Folder, "--clearenv")
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		args = append(args, "--setenv", name, value)
	}
	return append(append(args, "--", Program), arguments...)
}

// installed returns the folders in which tools are installed that are not among the
// system's programs, such as /opt/libreoffice24.2 of /opt/libreoffice24.2/program/soffice.
func installed(tools []string) []string {
	var folders []string
	for _, tool := range tools {
		path, err := filepath.EvalSymlinks(tool)
		if err != nil {
			continue // it cannot run either
		}
		prefix := filepath.Dir(filepath.Dir(path))
		isSystem := prefix == "/" || isBelow(path, "/usr", "/bin", "/sbin", "/nix/store")
		if !isSystem && !slices.Contains(folders, prefix) {
			folders = append(folders, prefix)
		}
	}
	return folders
}

// isBelow reports whether a path is in one of the folders.
func isBelow(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
}
