package blob_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkPut stores blobs as a small document leaves them: five of 2 KB each.
// Count syncs with
//
//	go test -c ./internal/blob && strace -f -c -e trace=fsync,fdatasync ./blob.test -test.run '^$' -test.bench Put/32 -test.benchtime 2000x
func BenchmarkPut(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d_writers", writers), func(b *testing.B) {
			s := open(b, folderURL(b.TempDir()))
			data := bytes.Repeat([]byte("0123456789abcdef"), 128)
			var next atomic.Int64
			var group sync.WaitGroup
			for range writers {
				group.Go(func() {
					for {
						i := next.Add(1) - 1
						if i >= int64(b.N) {
							return
						}
						if _, err := s.Put(b.Context(), fmt.Sprintf("w/p/d%d/1/step-%d", i/5, i%5), data); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkGet reads blobs of 2 KB, the last of which were just written.
func BenchmarkGet(b *testing.B) {
	s := open(b, folderURL(b.TempDir()))
	const stored = 4000
	for i := range stored {
		if _, err := s.Put(b.Context(), fmt.Sprintf("w/p/d%d/1/text", i), bytes.Repeat([]byte("0123456789abcdef"), 128)); err != nil {
			b.Fatal(err)
		}
	}
	read := func(b *testing.B, first, count int) {
		for i := range b.N {
			if _, err := s.Get(b.Context(), fmt.Sprintf("w/p/d%d/1/text", first+i%count)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("just_written", func(b *testing.B) { read(b, stored-100, 100) })
	b.Run("older", func(b *testing.B) { read(b, 0, stored/2) })
	b.Run("missing", func(b *testing.B) {
		for i := range b.N {
			if ok, err := s.Exists(b.Context(), fmt.Sprintf("w/p/d%d/1/layout.json", i)); ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}
