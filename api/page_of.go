package api

import (
	"encoding/base64"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// pageOf returns a page of a list that is in memory, and the cursor of the next one, nil after
// the last.
func pageOf[T any](all []T, q PageQuery, standard int) ([]T, *string, error) {
	first := 0
	if q.Cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		if err == nil {
			first, err = strconv.Atoi(string(text))
		}
		if err != nil || first < 0 {
			return nil, nil, knowledge.Invalid("query.cursor", "is not a cursor of this list: use next_cursor of the page before, or none")
		}
	}
	if q.Limit == 0 {
		q.Limit = standard
	}
	first = min(first, len(all))
	end := min(first+q.Limit, len(all))
	if end == len(all) {
		return notNil(all[first:end]), nil, nil
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	return all[first:end], &next, nil
}
