package archive

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// checkedPath returns the path of a member below the archive, or the reason why
// it is none.
func checkedPath(name string) (string, *knowledge.Error) {
	slashed := strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasPrefix(slashed, "/") || isDrive(slashed):
		return "", knowledge.Errorf(knowledge.CodeInvalid, "%q is an absolute path; pack it with a path inside the archive", name)
	case hasParent(slashed):
		return "", knowledge.Errorf(knowledge.CodeInvalid, "%q leads out of the archive; pack it with a path inside the archive", name)
	}
	clean := path.Clean(slashed)
	if clean == "." {
		return "", knowledge.Errorf(knowledge.CodeInvalid, "a file of the archive has no name")
	}
	return clean, nil
}

// isDrive reports whether a path begins with a drive of Windows.
func isDrive(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z')
}

func hasParent(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// addedBySystem reports whether a file is one that an operating system adds to
// archives and that nobody wrote.
func addedBySystem(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || base == ".DS_Store" || strings.EqualFold(base, "Thumbs.db") || strings.EqualFold(base, "desktop.ini")
}

// printable replaces the control characters of a name.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || knowledge.Invisible(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// unique sets a key of its own for each member. A member whose key an earlier one
// has, and one below the path of an inner archive, must not be read: readers
// differ in which of the two they show.
func unique(members []member) {
	taken, archives := make(map[string]bool, len(members)), map[string]bool{}
	var again []int
	for i, m := range members {
		if taken[m.key] {
			again = append(again, i)
			continue
		}
		taken[m.key] = true
		if m.isArchive() {
			archives[m.key] = true
		}
	}
	for _, i := range again {
		members[i].clash(taken, members[i].key, "")
	}
	for i := range members {
		key := members[i].key
		if folder := folderIn(archives, key); folder != "" {
			members[i].clash(taken, folder, key[len(folder):])
		}
	}
}

// clash sets the key of the member to "start (2)rest", or with the first number that
// is free, and the reason why the member must not be read.
func (m *member) clash(taken map[string]bool, start, rest string) {
	m.fault = knowledge.Errorf(knowledge.CodeConflict, "the archive holds more than one file with the path %q; the first is read", start+rest)
	for i := 2; ; i++ {
		if m.key = fmt.Sprintf("%s (%d)%s", start, i, rest); !taken[m.key] {
			taken[m.key] = true
			return
		}
	}
}

// folderIn returns the folder of a path that is in the set, "" if none is.
func folderIn(set map[string]bool, name string) string {
	for folder := path.Dir(name); folder != "." && folder != "/"; folder = path.Dir(folder) {
		if set[folder] {
			return folder
		}
	}
	return ""
}
