package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/server"
)

// leastFree is the free space below which uploads may soon fail.
const leastFree = 1 << 30

// checkDisk reports the free space of the server's data folder, and the use of it. A server
// that does not tell may have its folder on this machine.
func checkDisk(space *client.DiskSpace, data string) finding {
	if space == nil {
		space = (*client.DiskSpace)(server.DiskSpace(data))
	}
	if space == nil {
		return finding{"disk", findingNote, "the server did not tell of a data folder, and there is none at " + data, "run the command in the server's folder, or set CAIRN_DATA"}
	}
	detail := knowledge.SizeText(space.FreeBytes) + " free"
	var used []string
	for _, name := range slices.Sorted(maps.Keys(space.UsedBytes)) {
		used = append(used, name+" "+knowledge.SizeText(space.UsedBytes[name]))
	}
	if used != nil {
		detail += "; " + strings.Join(used, ", ")
	}
	if space.FreeBytes < leastFree {
		return finding{"disk", findingBad, detail, "free some space"}
	}
	return finding{"disk", findingOK, detail, ""}
}
