package git

import (
	"bytes"
	"io"
)

// ReadTrees reads a pack, and returns how many commits and trees it has.
func ReadTrees(pack []byte) (int, error) {
	objects, err := readTrees(bytes.NewReader(pack))
	return len(objects), err
}

// ReadAnswer reads the answer of a server as all that it may be.
func ReadAnswer(data []byte) {
	_, _ = capabilities(newPackets(bytes.NewReader(data)))
	if in, err := packOf(bytes.NewReader(data)); err == nil {
		_, _ = readTrees(in)
	}
	if r, _, err := openBlob(io.NopCloser(bytes.NewReader(data)), ""); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
	}
	_, _ = patch([]byte("The lamp is lit."), data, 1<<20)
	objects := map[hash]*object{{1}: {kind: kindCommit, data: []byte("tree 0200000000000000000000000000000000000000\n")}, {2}: {kind: kindTree, data: data}}
	_, _, _ = filesOf(objects, hash{1}, "")
}

// FilesOfNested returns the error of a tree that has itself.
func FilesOfNested() error {
	tree := append([]byte("40000 a\x00"), make([]byte, len(hash{}))...)
	objects := map[hash]*object{{1}: {kind: kindCommit, data: []byte("tree 0000000000000000000000000000000000000000\n")}, {}: {kind: kindTree, data: tree}}
	_, _, err := filesOf(objects, hash{1}, "")
	return err
}
