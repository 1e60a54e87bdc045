package git_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/git"
)

// packWith returns a pack with one object, whose head states a size.
func packWith(t *testing.T, kind byte, stated int64, data io.Reader) []byte {
	t.Helper()
	pack := bytes.NewBufferString("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	first := kind<<4 | byte(stated&15)
	for stated >>= 4; stated > 0; stated >>= 7 {
		pack.WriteByte(first | 0x80)
		first = byte(stated & 0x7f)
	}
	pack.WriteByte(first)
	z := zlib.NewWriter(pack)
	if _, err := io.Copy(z, data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return pack.Bytes()
}

// zeros is endless.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBombs has packs of a server that means harm: they are refused, and take little memory.
func TestBombs(t *testing.T) { // not parallel: it measures memory
	const tree, blob = 2, 3
	huge := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 1<<31)
	for name, pack := range map[string][]byte{
		"a tree that is larger than it says": packWith(t, tree, 10, io.LimitReader(zeros{}, 8<<20)),
		"a tree that says it is very large":  packWith(t, tree, 1<<40, io.LimitReader(zeros{}, 10)),
		"a file that is larger than it says": packWith(t, blob, 10, io.LimitReader(zeros{}, 32<<20)),
		"very many objects":                  huge,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if n, err := git.ReadTrees(pack); err == nil {
			t.Errorf("%s: %d objects are read", name, n)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%s: it took %d MB", name, used>>20)
		}
	}
	if n, err := git.ReadTrees(packWith(t, blob, 32<<20, io.LimitReader(zeros{}, 32<<20))); err != nil || n != 0 {
		t.Errorf("a large file: %d objects, %v", n, err)
	}
	if err := git.FilesOfNested(); err == nil {
		t.Error("a tree that has itself is read")
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("000dpackfile\n0011\x01PACK\x00\x00\x00\x02\x00\x00\x00\x000000"))
	f.Add([]byte("100644 a\x0001234567890123456789"))
	f.Add([]byte("\x10\x04\x90\x04"))
	f.Fuzz(func(_ *testing.T, data []byte) { git.ReadAnswer(data) })
}
