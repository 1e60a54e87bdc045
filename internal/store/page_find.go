package store

// maxLooked is how many rows one page of found rows reads.
const maxLooked = 20 * maxLimit

// findIn returns a page of those rows of a list that keep chooses, and that it may change. It
// reads at most maxLooked rows, so a page may have fewer rows than its limit, or none, and yet
// a cursor. end returns where the list goes on behind a row.
func findIn[T any](page Page, list func(Page) ([]T, string, error), keep func(*T) (bool, error), end func(T) position) ([]T, string, error) {
	limit, err := page.limit(defaultLimit)
	if err != nil {
		return nil, "", err
	}
	found, cursor := []T{}, page.Cursor
	for range maxLooked / maxLimit {
		rows, next, err := list(Page{Limit: maxLimit, Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		for i := range rows {
			kept, err := keep(&rows[i])
			if err != nil {
				return nil, "", err
			}
			switch {
			case !kept:
			case len(found) == limit: // there is another page
				return found, end(found[limit-1]).cursor(), nil
			default:
				found = append(found, rows[i])
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return found, cursor, nil
}
