package git

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // Git names objects by it
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// hash is the name of an object.
type hash [sha1.Size]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

// parseHash returns the hash that a text names.
func parseHash(text string) (h hash, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(h) {
		return h, errProtocol
	}
	return hash(data), nil
}

// kind is the type of an object in a pack.
type kind byte

// The kinds of objects.
const (
	kindCommit   kind = 1
	kindTree     kind = 2
	kindBlob     kind = 3
	kindTag      kind = 4
	kindByOffset kind = 6 // the difference to an object before it
	kindByHash   kind = 7 // the difference to an object with a name
)

// word returns the word of a kind in the name of an object.
func (k kind) word() string {
	switch k {
	case kindCommit:
		return "commit"
	case kindTree:
		return "tree"
	case kindTag:
		return "tag"
	}
	return "blob"
}

// The bounds of a pack of trees.
const (
	maxObjects   = 4_000_000
	maxTreeBytes = 128 << 20 // of the trees and commits, unpacked
	maxPackBytes = 16 << 30  // of everything, unpacked: a server without filters sends the files too
)

// errTooLarge is the error for trees that do not fit the bounds.
var errTooLarge = errors.New("the trees of the repository are too large")

// errPack is the cause of the error for a pack that is damaged.
var errPack = errors.New("the pack is damaged")

// pack reads the objects of a pack one after another.
type pack struct {
	in   *counter
	left uint32 // objects that follow
	zip  io.ReadCloser
}

// counter counts the bytes that are read.
type counter struct {
	*bufio.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// openPack reads the head of a pack.
func openPack(r io.Reader) (*pack, error) {
	p := &pack{in: &counter{Reader: bufio.NewReader(r)}}
	var head struct {
		Magic          [4]byte
		Version, Count uint32
	}
	if err := binary.Read(p.in, binary.BigEndian, &head); err != nil {
		return nil, unexpected(err)
	}
	if string(head.Magic[:]) != "PACK" || head.Version != 2 && head.Version != 3 {
		return nil, errPack
	}
	if head.Count > maxObjects {
		return nil, errTooLarge
	}
	p.left = head.Count
	return p, nil
}

// unexpected returns io.ErrUnexpectedEOF for io.EOF: the end is where it should not be.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// header is what stands before the data of an object.
type header struct {
	at   int64 // offset of the object in the pack
	kind kind
	size int64 // of the data, unpacked
	back int64 // of kindByOffset: from at to the base
	base hash  // of kindByHash
}

// next reads the head of the next object.
func (p *pack) next() (h header, err error) {
	p.left--
	h.at = p.in.n
	b, err := p.in.ReadByte()
	if err != nil {
		return h, unexpected(err)
	}
	h.kind, h.size = kind(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = p.in.ReadByte(); err != nil || shift > 53 {
			return h, errors.Join(errPack, err)
		}
		h.size |= int64(b&0x7f) << shift
	}
	switch h.kind {
	case kindCommit, kindTree, kindBlob, kindTag:
	case kindByOffset:
		h.back, err = p.distance()
	case kindByHash:
		_, err = io.ReadFull(p.in, h.base[:])
	default:
		err = errPack
	}
	return h, unexpected(err)
}

// distance reads how far before an object its base begins.
func (p *pack) distance() (n int64, err error) {
	for i := 0; ; i++ {
		b, err := p.in.ReadByte()
		if err != nil || i > 7 {
			return 0, errors.Join(errPack, err)
		}
		n |= int64(b & 0x7f)
		if b&0x80 == 0 {
			return n, nil
		}
		n = (n + 1) << 7
	}
}

// data returns a reader of the data of the object whose head was read last. It is to be read
// to its end.
func (p *pack) data() (io.Reader, error) {
	if p.zip == nil {
		var err error
		p.zip, err = zlib.NewReader(p.in)
		return p.zip, unexpected(err)
	}
	return p.zip, unexpected(p.zip.(zlib.Resetter).Reset(p.in, nil))
}

// discard reads the data of an object, and forgets it.
func (p *pack) discard(size int64) error {
	r, err := p.data()
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, size+1))
	if err == nil && n != size {
		err = errPack
	}
	return err
}

// bytes returns the data of an object.
func (p *pack) bytes(size int64) ([]byte, error) {
	r, err := p.data()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, size+1)) // memory grows with the data, not with what the head says
	if err == nil && int64(len(data)) != size {
		err = errPack
	}
	return data, unexpected(err)
}

// nameOf returns the name of an object.
func nameOf(k kind, data []byte) hash {
	h := sha1.New() //nolint:gosec // Git names objects by it
	fmt.Fprintf(h, "%s %d\x00", k.word(), len(data))
	_, _ = h.Write(data) // a hash takes everything
	return hash(h.Sum(nil))
}
