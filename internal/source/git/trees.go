package git

import (
	"io"
)

// object is an object of a pack. The data of blobs is not kept.
type object struct {
	kind kind
	data []byte
}

// trees are the commits and trees of a pack, by their names.
type trees struct {
	byName   map[hash]*object
	byOffset map[int64]*object
	kept     int64 // bytes of data
	read     int64 // bytes of all data
}

// readTrees reads the commits and trees of a pack.
func readTrees(r io.Reader) (map[hash]*object, error) {
	p, err := openPack(r)
	if err != nil {
		return nil, err
	}
	t := &trees{byName: map[hash]*object{}, byOffset: map[int64]*object{}}
	for p.left > 0 {
		h, err := p.next()
		if err == nil {
			err = t.add(p, h)
		}
		if err != nil {
			return nil, err
		}
	}
	return t.byName, nil
}

// add reads an object.
func (t *trees) add(p *pack, h header) error {
	if t.read += h.size; t.read > maxPackBytes {
		return errTooLarge
	}
	var base *object
	switch h.kind {
	case kindByOffset:
		if base = t.byOffset[h.at-h.back]; base == nil {
			return errPack
		}
	case kindByHash:
		base = t.byName[h.base] // one that is not there is a blob
	}
	isDelta := h.kind == kindByOffset || h.kind == kindByHash
	if h.kind == kindBlob || isDelta && (base == nil || base.kind == kindBlob) {
		t.byOffset[h.at] = &object{kind: kindBlob}
		return p.discard(h.size)
	}
	if t.kept += h.size; t.kept > maxTreeBytes {
		return errTooLarge
	}
	data, err := p.bytes(h.size)
	o := &object{kind: h.kind, data: data}
	if err == nil && isDelta {
		o.kind = base.kind
		o.data, err = patch(base.data, data, maxTreeBytes-t.kept)
		t.kept += int64(len(o.data))
	}
	if err != nil {
		return err
	}
	t.byOffset[h.at], t.byName[nameOf(o.kind, o.data)] = o, o
	return nil
}

// patch applies a difference to its base. The result has at most limit bytes.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	d := &difference{data: delta}
	from, size := d.number(), d.number()
	if d.broken || from != int64(len(base)) {
		return nil, errPack
	}
	if size > limit {
		return nil, errTooLarge
	}
	var out []byte
	for len(d.data) > 0 && !d.broken {
		part := d.part(base)
		if int64(len(out)+len(part)) > size {
			return nil, errPack
		}
		out = append(out, part...)
	}
	if d.broken || int64(len(out)) != size {
		return nil, errPack
	}
	return out, nil
}

// difference reads the parts of a difference.
type difference struct {
	data   []byte
	broken bool
}

func (d *difference) byte() (b byte) {
	if len(d.data) == 0 {
		d.broken = true
		return 0
	}
	b, d.data = d.data[0], d.data[1:]
	return b
}

// number reads a number of which each byte has seven bits.
func (d *difference) number() (n int64) {
	for shift := 0; ; shift += 7 {
		b := d.byte()
		if shift > 53 {
			d.broken = true
		}
		if d.broken {
			return 0
		}
		n |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return n
		}
	}
}

// part returns the next part of the result: a copy from the base, or new bytes.
func (d *difference) part(base []byte) (part []byte) {
	code := d.byte()
	if code&0x80 == 0 {
		if code == 0 || int(code) > len(d.data) {
			d.broken = true
			return nil
		}
		part, d.data = d.data[:code], d.data[code:]
		return part
	}
	var at, n int
	for i := range 4 {
		if code&(1<<i) != 0 {
			at |= int(d.byte()) << (8 * i)
		}
	}
	for i := range 3 {
		if code&(0x10<<i) != 0 {
			n |= int(d.byte()) << (8 * i)
		}
	}
	if n == 0 {
		n = 0x10000
	}
	if at+n > len(base) {
		d.broken = true
		return nil
	}
	return base[at : at+n]
}
