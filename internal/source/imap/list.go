package imap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// maxMessages bounds the messages of a mailbox.
const maxMessages = 2_000_000

// state is how a mailbox is when a run begins: the cursor of the next one.
type state struct {
	Validity uint32 `json:"validity"` // the server renumbers the mailbox with another one
	Next     uint32 `json:"next"`     // above each number that was given
	Count    uint32 `json:"count"`
	// ModSeq grows with each change, 0 = the server has none. Then Flags is the hash of all
	// numbers and flags.
	ModSeq uint64 `json:"modseq,omitempty"`
	Flags  string `json:"flags,omitempty"`
}

// place is where a page begins.
type place struct {
	state
	Since uint64 `json:"since,omitempty"` // the page has what has changed since this ModSeq, 0 = everything
	After uint32 `json:"after,omitempty"` // number of the last message that is listed
}

// List implements source.Source. It lists what has changed if the server tells that and no
// message is gone; otherwise every message, so that what is gone is found.
func (s *Source) List(ctx context.Context, text string) (page source.Page, err error) {
	var at place
	if text != "" && text != source.TokenAll {
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return page, source.ErrExpired
		}
	}
	begins := at.Validity == 0
	err = s.with(ctx, func(one *session) error {
		page = source.Page{}
		if begins {
			if at, err = s.begin(one, text == source.TokenAll); err != nil {
				return err
			}
			if at.state == s.before && text == "" {
				page.Cursor = s.follow.Cursor
				return nil
			}
		}
		if one.opened.UIDValidity != at.Validity {
			return source.ErrExpired
		}
		page, err = s.page(one, at)
		return err
	})
	return page, err
}

// begin returns where the listing of a run begins.
func (s *Source) begin(one *session, all bool) (at place, err error) {
	if one.used {
		if err := s.examine(one); err != nil {
			return at, err
		}
	}
	o := one.opened
	if o.UIDValidity == 0 || o.UIDNext == 0 {
		return at, knowledge.Errorf(knowledge.CodeInvalid, "the server does not number the messages of the mailbox for good (UIDVALIDITY, UIDNEXT), which is needed")
	}
	at.state = state{Validity: o.UIDValidity, Next: uint32(o.UIDNext), Count: o.NumMessages, ModSeq: o.HighestModSeq}
	if at.ModSeq == 0 {
		at.Flags, err = flagsOf(one)
		return at, err
	}
	if all || s.before.Validity != at.Validity || s.before.ModSeq == 0 || at.state == s.before {
		return at, nil
	}
	came, err := uids(one, &goimap.SearchCriteria{UID: from(s.before.Next)})
	if err != nil {
		return at, err
	}
	came = slices.DeleteFunc(came, func(uid goimap.UID) bool { return uint32(uid) < s.before.Next }) // n:* has the last one always
	marked, err := uids(one, &goimap.SearchCriteria{ModSeq: &goimap.SearchCriteriaModSeq{ModSeq: s.before.ModSeq + 1}, Flag: []goimap.Flag{goimap.FlagDeleted}})
	if err == nil && len(marked) == 0 && int64(s.before.Count)+int64(len(came)) == int64(at.Count) {
		at.Since = s.before.ModSeq
	}
	return at, err
}

// from returns the numbers from one on.
func from(uid uint32) []goimap.UIDSet {
	return []goimap.UIDSet{{goimap.UIDRange{Start: goimap.UID(max(uid, 1)), Stop: 0}}}
}

// uids returns the numbers of the messages that meet a condition, in order.
func uids(one *session, criteria *goimap.SearchCriteria) ([]goimap.UID, error) {
	found, err := one.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, err
	}
	set, _ := found.All.(goimap.UIDSet)
	var list []goimap.UID
	for _, r := range set {
		if r.Stop < r.Start || int(r.Stop-r.Start)+len(list) > maxMessages {
			return nil, knowledge.Errorf(knowledge.CodeInvalid, "the mailbox has more than %d messages", maxMessages)
		}
		for uid := r.Start; ; uid++ {
			list = append(list, uid)
			if uid == r.Stop {
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// flagsOf returns a hash of the numbers and flags of all messages.
func flagsOf(one *session) (string, error) {
	fetch := one.client.Fetch(goimap.UIDSet{goimap.UIDRange{Start: 1, Stop: 0}}, &goimap.FetchOptions{Flags: true, UID: true})
	defer func() { _ = fetch.Close() }() // after an error; its own is checked below
	var lines []string
	for m := fetch.Next(); m != nil; m = fetch.Next() {
		data, err := m.Collect()
		if err != nil {
			return "", err
		}
		flags := slices.Clone(data.Flags)
		slices.Sort(flags)
		lines = append(lines, fmt.Sprintf("%010d %q", data.UID, flags))
	}
	if err := fetch.Close(); err != nil {
		return "", err
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range lines {
		_, _ = fmt.Fprintln(h, line) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// page lists a page.
func (s *Source) page(one *session, at place) (source.Page, error) {
	criteria := &goimap.SearchCriteria{UID: from(at.After + 1), NotFlag: []goimap.Flag{goimap.FlagDeleted}}
	if at.Since > 0 {
		criteria.ModSeq = &goimap.SearchCriteriaModSeq{ModSeq: at.Since + 1}
	}
	list, err := uids(one, criteria)
	if err != nil {
		return source.Page{}, err
	}
	// Messages that arrived after the run began are left to the next run. If they were listed
	// here and removed, that run could not tell.
	list = slices.DeleteFunc(list, func(uid goimap.UID) bool { return uint32(uid) <= at.After || uint32(uid) >= at.Next })
	var page source.Page
	if len(list) > s.size {
		list = list[:s.size]
		at.After = uint32(list[len(list)-1])
		next, err := json.Marshal(at)
		if err != nil {
			return page, err
		}
		page.Next = string(next)
	} else {
		text, err := json.Marshal(at.state)
		if err != nil {
			return page, err
		}
		page.Full, page.Cursor = at.Since == 0, string(text)
	}
	page.Objects, err = s.objects(one, list)
	return page, err
}

// objects returns the objects of messages. Of messages that are alike, one is enough.
func (s *Source) objects(one *session, list []goimap.UID) ([]source.Object, error) {
	if len(list) == 0 {
		return nil, nil
	}
	found, err := one.client.Fetch(goimap.UIDSetNum(list...), &goimap.FetchOptions{
		UID: true, Flags: true, InternalDate: true, RFC822Size: true, BodySection: []*goimap.FetchItemBodySection{headerFields()},
	}).Collect()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *imapclient.FetchMessageBuffer) int { return int(int64(a.UID) - int64(b.UID)) })
	seen := map[string]bool{}
	var objects []source.Object
	for _, m := range found {
		if m.UID == 0 || len(m.BodySection) == 0 || slices.Contains(m.Flags, goimap.FlagDeleted) { // somebody else changed its flags meanwhile
			continue
		}
		if o := s.object(m, one.opened.UIDValidity); !seen[o.Key] {
			seen[o.Key] = true
			objects = append(objects, o)
		}
	}
	return objects, nil
}
