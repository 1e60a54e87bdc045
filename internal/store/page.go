package store

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/uptrace/bun"
)

// The lengths of a page.
const (
	defaultLimit          = 50
	defaultDocumentsLimit = 500
	maxLimit              = 500
)

// Page asks for a part of a list. Limit is 1..500, 0 = the list's default.
// Cursor is "" for the first page, else what came with the page before.
type Page struct {
	Limit  int
	Cursor string
}

// position is where a page ended: the order value (microseconds or a number)
// and the id of its last item.
type position struct {
	List  string `json:"l"` // so that the cursor of one list does not fit another
	Order int64  `json:"o"`
	Text  string `json:"t,omitempty"` // the order value of a list that is ordered by a text
	ID    string `json:"i,omitempty"`
}

func (p Page) limit(standard int) (int, error) {
	switch {
	case p.Limit == 0:
		return standard, nil
	case p.Limit < 0 || p.Limit > maxLimit:
		return 0, invalid("query.limit", "must be between 1 and "+strconv.Itoa(maxLimit))
	}
	return p.Limit, nil
}

// after returns the position that the cursor holds; ok is false on the first page.
func (p Page) after(list string) (at position, ok bool, err error) {
	if p.Cursor == "" {
		return at, false, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	if err != nil || at.List != list {
		return at, false, invalid("query.cursor", "is not a cursor of this list: use next_cursor of the page before, or none")
	}
	return at, true, nil
}

func (at position) cursor() string {
	data, err := json.Marshal(at)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// newestFirst orders a list by creation, newest first, and cuts the page out.
// It asks for one row more than the page holds, by which next knows that there
// is another page.
func newestFirst(q *bun.SelectQuery, alias, list string, p Page, standard int) (*bun.SelectQuery, int, error) {
	limit, err := p.limit(standard)
	if err != nil {
		return nil, 0, err
	}
	at, ok, err := p.after(list)
	if err != nil {
		return nil, 0, err
	}
	a := bun.Ident(alias)
	if ok {
		q = q.Where("(?.created_at, ?.id) < (?, ?)", a, a, at.Order, at.ID)
	}
	return q.OrderExpr("?.created_at DESC, ?.id DESC", a, a).Limit(int64(limit) + 1), limit, nil
}

// inOrder orders a list by a number and cuts the page out, like newestFirst.
func inOrder(q *bun.SelectQuery, column, direction, list string, p Page) (*bun.SelectQuery, int, error) {
	limit, err := p.limit(defaultLimit)
	if err != nil {
		return nil, 0, err
	}
	at, ok, err := p.after(list)
	if err != nil {
		return nil, 0, err
	}
	c, compare := bun.Ident(column), ">"
	if direction == "DESC" {
		compare = "<"
	}
	if ok {
		q = q.Where("? ? ?", c, bun.Safe(compare), at.Order)
	}
	return q.OrderExpr("? ?", c, bun.Safe(direction)).Limit(int64(limit) + 1), limit, nil
}

// next drops the surplus row and returns the cursor of the next page.
func next[T any](rows []T, limit int, end func(T) position) ([]T, string) {
	if len(rows) <= limit {
		return rows, ""
	}
	rows = rows[:limit]
	return rows, end(rows[limit-1]).cursor()
}

// convert returns the rows converted one by one, never nil.
func convert[R, T any](rows []R, one func(R) T) []T {
	list := make([]T, 0, len(rows))
	for _, r := range rows {
		list = append(list, one(r))
	}
	return list
}

// decodeRows is convert for rows that hold JSON: it stops at the first error.
func decodeRows[R, T any](rows []R, one func(*R) (T, error)) ([]T, error) {
	list := make([]T, 0, len(rows))
	for i := range rows {
		v, err := one(&rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
