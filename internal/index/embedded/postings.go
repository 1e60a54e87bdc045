package embedded

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// postings are the passages in which a word occurs, in ascending order of their
// slots. A passage is two varints, or one if the word occurs once in it: the
// distance to the slot before, times two, plus one if it occurs once; and the
// number of occurrences.
type postings struct {
	encoded []byte
	last    int // the slot of the last passage
	covered int // passages in slots below are in the list if they have the word

	// frequency is the number of passages that were not removed, when there had
	// been this number of removals.
	frequency int
	removals  int64
}

func newPostings() *postings { return &postings{last: -1, removals: -1} }

func (l *postings) add(slot, times int) {
	distance := uint64(slot-l.last) << 1
	if times == 1 {
		l.encoded = binary.AppendUvarint(l.encoded, distance|1)
	} else {
		l.encoded = binary.AppendUvarint(binary.AppendUvarint(l.encoded, distance), uint64(times)) //nolint:gosec // above 0
	}
	l.last = slot
}

func (l *postings) reader() postingReader { return postingReader{rest: l.encoded, slot: -1} }

type postingReader struct {
	rest []byte
	slot int
}

// next returns the next passage in a slot below end.
func (r *postingReader) next(end int) (slot, times int, ok bool) {
	if len(r.rest) == 0 {
		return 0, 0, false
	}
	distance, n := uint64(r.rest[0]), 1
	if distance >= 0x80 {
		distance, n = binary.Uvarint(r.rest)
	}
	slot = r.slot + int(distance>>1) //nolint:gosec // a slot
	if slot >= end {
		return 0, 0, false
	}
	times = 1
	if distance&1 == 0 {
		t, more := binary.Uvarint(r.rest[n:])
		times, n = int(t), n+more //nolint:gosec // a number of occurrences
	}
	r.rest, r.slot = r.rest[n:], slot
	return slot, times, true
}

// slotSet is a set of slots, a bit each.
type slotSet []uint64

func (s slotSet) add(slot int)      { s[slot/64] |= 1 << (slot % 64) }
func (s slotSet) has(slot int) bool { return slot/64 < len(s) && s[slot/64]&(1<<(slot%64)) != 0 }

// numbers splits a list of decimal numbers that group_concat has joined.
func numbers(joined string) ([]int64, error) {
	if joined == "" {
		return nil, nil
	}
	list := make([]int64, 0, strings.Count(joined, ",")+1)
	for part := range strings.SplitSeq(joined, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}
