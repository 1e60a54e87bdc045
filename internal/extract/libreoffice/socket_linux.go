package libreoffice

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// removeSockets removes the files of the sockets on which a LibreOffice listens for
// others of its kind, and reports whether it found one. LibreOffice makes them in
// /tmp, whatever the environment says, and leaves them there when it is killed.
// Nobody connects to them, and LibreOffice works without the files.
func removeSockets(pid int) bool {
	process := filepath.Join("/proc", strconv.Itoa(pid))
	own := map[string]bool{} // inodes
	descriptors, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return false // it has ended
	}
	for _, d := range descriptors {
		target, err := os.Readlink(filepath.Join(process, "fd", d.Name()))
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && err == nil {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	table, err := os.ReadFile(filepath.Join(process, "net", "unix"))
	if err != nil {
		return false
	}
	found := false
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		const inode, path = 6, 7 // columns
		columns := strings.Fields(lines.Text())
		if len(columns) <= path || !own[columns[inode]] || !strings.HasPrefix(filepath.Base(columns[path]), "OSL_PIPE_") {
			continue
		}
		found = true
		_ = os.Remove(columns[path]) // LibreOffice may have removed it
	}
	return found
}
