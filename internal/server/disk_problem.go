package server

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// leastForUploads is the free space below which an upload may find no room: the stores and
// their logs grow by some megabytes before the space of an earlier write comes back.
const leastForUploads = 16 << 20

// leastForQuestions is the free space below which a question is refused.
const leastForQuestions = 256 << 10

// storageFolders returns the folders on this machine in which the stores keep their files.
func storageFolders(cfg config.Config) []string {
	folders := []string{cfg.Data}
	if path, ok := strings.CutPrefix(cfg.Blob.URL, "file://"); ok {
		folders = append(folders, path)
	}
	for _, url := range []string{cfg.Database.URL, cfg.Vector.URL} {
		if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
			folders = append(folders, filepath.Dir(path))
		}
	}
	return folders
}

// diskProblem returns the reason for which the disks take no uploads, nil if they do. A
// question is refused when its run cannot be written, so the store tells of that.
func (p *platform) diskProblem(ctx context.Context) *api.DiskProblem {
	problem := diskProblem(storageFolders(p.cfg))
	switch {
	case problem == nil:
		if !p.store.Full() || p.store.TryWrite(ctx) == nil {
			return nil
		}
		problem = &api.DiskProblem{Code: "full", NeededBytes: leastForUploads, Message: "the quota of the server's data, or the disk of its database, is full: free some space there"}
	case problem.Code != "full", !p.store.Full() && problem.FreeBytes >= leastForQuestions: // a question is a blob too
		return problem
	}
	problem.RefusesQuestions = true
	problem.Message = strings.TrimSuffix(problem.Message, mayFail) + "; uploads and questions are refused with 503 until then, and accepted again without a restart"
	return problem
}

// mayFail is the end of the message while no write has failed.
const mayFail = "; uploads and questions may be refused or fail until then"

// diskProblem returns the reason for which the disk of one of the folders takes no uploads,
// nil if all take them. A folder that cannot be measured has no problem here: the
// dependencies tell of it.
func diskProblem(folders []string) *api.DiskProblem {
	for _, folder := range folders {
		var disk unix.Statfs_t
		if unix.Statfs(folder, &disk) != nil {
			continue
		}
		problem := api.DiskProblem{
			FreeBytes:   int64(disk.Bavail) * int64(disk.Bsize), //nolint:gosec,unconvert // the types differ between systems
			NeededBytes: leastForUploads,
		}
		if err := unix.Access(folder, unix.W_OK); errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
			problem.Code = "read_only"
			problem.Message = "the server cannot write to its data: make the disk and the folder writable for it, then restart it"
			return &problem
		}
		if problem.FreeBytes < problem.NeededBytes {
			problem.Code = "full"
			problem.Message = "free at least " + knowledge.SizeText(problem.NeededBytes-problem.FreeBytes) + " on the disk of the server's data" + mayFail
			return &problem
		}
	}
	return nil
}
