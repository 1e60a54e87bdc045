package encoder

import (
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var errVocabulary = errors.New("the vocabulary is damaged")

// space is the mark of SentencePiece for the beginning of a word.
const space = '\u2581'

// tokenizer cuts a text into the pieces of a vocabulary, as SentencePiece's unigram model does: of all
// ways to cut it, it takes the one whose pieces have the highest sum of scores.
type tokenizer struct {
	begin, end, unknown int32

	blob    []byte   // the bytes of all pieces
	offsets []uint32 // of each piece in blob, and the end of the last
	scores  []float32
	longest int     // bytes of a piece
	missing float32 // score of a character that is in no piece
	table   []int32 // by hash: the id of a piece + 1; the next place is free or has another

	replaced map[rune][]rune // code points by what stands for them
}

// readTokenizer reads the vocabulary and the replacements of code points.
func readTokenizer(r *fileReader, words int32) *tokenizer {
	pieces := r.count("pieces", words)
	var ids struct{ Begin, End, Pad, Unknown int32 }
	r.read(&ids)
	var size uint64
	r.read(&size)
	for _, id := range []int32{ids.Begin, ids.End, ids.Unknown} {
		if r.err == nil && (id < 0 || id >= words || size > mostBlob) {
			r.err = errVocabulary
		}
	}
	if r.err != nil {
		return nil
	}
	t := &tokenizer{begin: ids.Begin, end: ids.End, unknown: ids.Unknown}
	t.offsets, t.scores = make([]uint32, pieces+1), make([]float32, pieces)
	r.read(t.offsets)
	r.read(t.scores)
	t.blob = r.bytes(int(size))
	t.replaced = r.replacements()
	if r.err == nil && (!slices.IsSorted(t.offsets) || uint64(t.offsets[pieces]) > size) {
		r.err = errVocabulary
	}
	if r.err != nil {
		return nil
	}
	t.index()
	return t
}

// replacements reads the code points that others stand for.
func (r *fileReader) replacements() map[rune][]rune {
	n := r.count("replacements", 1<<20)
	r.count("bytes of replacements", math.MaxInt32)
	replaced := make(map[rune][]rune, n)
	for range n {
		var from uint32
		var length uint8
		r.read(&from)
		r.read(&length)
		to := make([]rune, length)
		r.read(to)
		if r.err != nil {
			break
		}
		replaced[rune(from)] = to
	}
	return replaced
}

// index fills the table of pieces.
func (t *tokenizer) index() {
	size := 2
	for size < 2*len(t.scores) {
		size *= 2
	}
	t.table = make([]int32, size)
	t.missing = -10
	if len(t.scores) > 0 {
		t.missing += slices.Min(t.scores)
	}
	for id := range t.scores {
		piece := t.piece(int32(id))
		t.longest = max(t.longest, len(piece))
		at := hashBytes(hashStart, piece)
		for t.table[at&uint64(size-1)] != 0 {
			at++
		}
		t.table[at&uint64(size-1)] = int32(id) + 1
	}
}

func (t *tokenizer) piece(id int32) []byte { return t.blob[t.offsets[id]:t.offsets[id+1]] }

// find returns the id of a piece with its hash, and whether there is one.
func (t *tokenizer) find(piece []byte, hash uint64) (int32, bool) {
	for mask := uint64(len(t.table) - 1); ; hash++ {
		id := t.table[hash&mask] - 1
		if id < 0 {
			return 0, false
		}
		if string(t.piece(id)) == string(piece) {
			return id, true
		}
	}
}

// normalize returns the text as the vocabulary has it: composed, with replaced code points, and with
// a mark before each word.
func (t *tokenizer) normalize(text string) []byte {
	out := make([]byte, 0, len(text)+len(text)/4+utf8.UTFMax)
	waiting := true // a mark is due before the next character
	add := func(r rune) {
		if r == ' ' {
			waiting = true
			return
		}
		if waiting {
			out, waiting = utf8.AppendRune(out, space), false
		}
		out = utf8.AppendRune(out, r)
	}
	for _, r := range norm.NFC.String(text) {
		to, ok := t.replaced[r]
		if !ok {
			add(r)
			continue
		}
		for _, r := range to {
			add(r)
		}
	}
	return out
}

// step is the best way to a place in a text.
type step struct {
	score float32
	from  int32 // the place before the last piece
	id    int32 // the last piece
}

// cut returns the ids of the pieces of a text.
func (t *tokenizer) cut(text string) []int32 {
	b := t.normalize(text)
	best := make([]step, len(b)+1)
	for i := range best {
		best[i].score = float32(math.Inf(-1))
	}
	best[0].score = 0
	for i := 0; i < len(b); {
		_, first := utf8.DecodeRune(b[i:])
		if s := best[i].score + t.missing; s > best[i+first].score {
			best[i+first] = step{s, int32(i), t.unknown}
		}
		t.extend(b, i, best)
		i += first
	}
	var ids []int32
	for at := int32(len(b)); at > 0; at = best[at].from {
		ids = append(ids, best[at].id)
	}
	slices.Reverse(ids)
	return ids
}

// extend looks for the pieces that begin at a place.
func (t *tokenizer) extend(b []byte, from int, best []step) {
	hash := uint64(hashStart)
	for to := from; to < len(b); {
		_, size := utf8.DecodeRune(b[to:])
		if to+size-from > t.longest {
			return
		}
		hash = hashBytes(hash, b[to:to+size])
		to += size
		id, ok := t.find(b[from:to], hash)
		if !ok || id == t.unknown {
			continue
		}
		if s := best[from].score + t.scores[id]; s > best[to].score {
			best[to] = step{s, int32(from), id}
		}
	}
}

// hashStart and hashBytes are FNV-1a, of which a longer piece continues that of a shorter one.
const hashStart = 14695981039346656037

func hashBytes(hash uint64, b []byte) uint64 {
	for _, c := range b {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	return hash
}
