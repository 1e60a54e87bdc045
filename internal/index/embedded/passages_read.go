package embedded

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/words"
)

// lengthsAtATime is the number of lengths that one statement reads.
const lengthsAtATime = 20_000

// readLengths reads the lengths of the next passages up to the entry until.
// group_concat makes one row of them: a row takes ten times as long to read as a
// number.
func (p *passages) readLengths(ctx context.Context, db *statements, until int64) error {
	var ids, sizes string
	err := db.pool.QueryRowContext(ctx, `SELECT coalesce(group_concat(id), ''), coalesce(group_concat(hex(sz)), '') FROM
		(SELECT id, sz FROM `+wordTable(p.workspace)+`_docsize WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)`,
		p.state.written, until, lengthsAtATime).Scan(&ids, &sizes)
	if err != nil {
		return fmt.Errorf("read the lengths of passages: %w", err)
	}
	entries, err := numbers(ids)
	if err != nil {
		return fmt.Errorf("read the lengths of passages: %w", err)
	}
	lengths := make([]int32, 0, len(entries))
	for size := range strings.SplitSeq(sizes, ",") {
		length, err := varint(size)
		if err != nil {
			return fmt.Errorf("read the lengths of passages: %w", err)
		}
		lengths = append(lengths, length)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, entry := range entries {
		p.entries, p.lengths = append(p.entries, entry), append(p.lengths, lengths[i])
		p.live, p.tokens = p.live+1, p.tokens+int64(lengths[i])
	}
	p.state.written = until
	if len(entries) == lengthsAtATime {
		p.state.written = entries[len(entries)-1]
	}
	return nil
}

// varint decodes an SQLite varint: 7 bits a byte, the highest first.
func varint(hexadecimal string) (int32, error) {
	b, err := hex.DecodeString(hexadecimal)
	n := int32(0)
	for _, c := range b {
		n = n<<7 | int32(c&0x7f)
	}
	return n, err
}

// lists returns the lists of terms, completed with what the file has, and the
// number of bytes by which they have grown. The caller holds loading.
func (p *passages) lists(ctx context.Context, db *statements, terms []words.Term) (lists []*postings, grown int, err error) {
	lists = make([]*postings, len(terms))
	tails := map[words.Term]*postings{}
	for i, t := range terms {
		p.mu.RLock()
		list := p.postings[t]
		p.mu.RUnlock()
		switch {
		case list == nil || len(p.entries)-list.covered > maxTail:
			if list != nil {
				grown -= len(list.encoded)
			}
			if list, err = p.readList(ctx, db, t); err != nil {
				return nil, 0, err
			}
			grown += len(list.encoded)
		case list.covered < len(p.entries):
			tails[t] = list
		}
		lists[i] = list
	}
	more, err := p.readTails(ctx, db, tails)
	if err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range terms {
		p.postings[t] = lists[i]
		p.count(lists[i])
	}
	return lists, grown + more, nil
}

// count counts the passages of the list that were not removed. The caller holds mu.
func (p *passages) count(list *postings) {
	if list.removals == p.state.removals {
		return
	}
	list.frequency, list.removals = 0, p.state.removals
	reader := list.reader()
	for slot, _, ok := reader.next(len(p.entries)); ok; slot, _, ok = reader.next(len(p.entries)) {
		if p.lengths[slot] != removed {
			list.frequency++
		}
	}
}

// readList reads the list of a term from the full-text table.
func (p *passages) readList(ctx context.Context, db *statements, t words.Term) (*postings, error) {
	from, until := t.Word, t.Word
	if t.Prefix {
		until += string(rune(0x10FFFF))
	}
	var joined string
	err := db.pool.QueryRowContext(ctx, `SELECT coalesce(group_concat(doc), '') FROM `+occurrenceTable(p.workspace)+
		` WHERE term >= ? AND term <= ?`, from, until).Scan(&joined)
	if err != nil {
		return nil, fmt.Errorf("read the passages with %d letters: %w", len(t.Word), err)
	}
	occurrences, err := numbers(joined)
	if err != nil {
		return nil, err
	}
	slices.Sort(occurrences) // several words with the prefix have a list each
	list, slot := newPostings(), 0
	for i := 0; i < len(occurrences); {
		entry, first := occurrences[i], i
		for i < len(occurrences) && occurrences[i] == entry {
			i++
		}
		for slot < len(p.entries) && p.entries[slot] < entry {
			slot++
		}
		if slot == len(p.entries) {
			break // written later
		}
		if p.entries[slot] == entry {
			list.add(slot, i-first)
		}
	}
	list.covered = len(p.entries)
	return list, nil
}

// readTails completes lists with the words of new passages. It returns the number
// of bytes by which they have grown.
func (p *passages) readTails(ctx context.Context, db *statements, lists map[words.Term]*postings) (grown int, err error) {
	if len(lists) == 0 {
		return 0, nil
	}
	first := len(p.entries)
	for list := range maps.Values(lists) {
		first = min(first, list.covered)
	}
	texts, err := db.texts(ctx, p.workspace, p.entries[first:])
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for slot := first; slot < len(p.entries); slot++ {
		times := occurrences(texts[p.entries[slot]], lists)
		for t, n := range times {
			if list := lists[t]; slot >= list.covered {
				before := len(list.encoded)
				list.add(slot, n)
				grown += len(list.encoded) - before
				if p.lengths[slot] != removed {
					list.frequency++
				}
			}
		}
	}
	for _, list := range lists {
		list.covered = len(p.entries)
	}
	return grown, nil
}

// occurrences counts the words of a text that are one of the terms.
func occurrences(text string, terms map[words.Term]*postings) map[words.Term]int {
	times := map[words.Term]int{}
	for word := range strings.SplitSeq(text, " ") {
		if t := (words.Term{Word: word}); terms[t] != nil {
			times[t]++
		}
		for t := range terms {
			if t.Prefix && strings.HasPrefix(word, t.Word) {
				times[t]++
			}
		}
	}
	return times
}
