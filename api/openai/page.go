package openai

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxPage and usualPage are the most and the usual number of objects of a page.
const (
	maxPage   = 500
	usualPage = 20
)

// pageParams describes the parameters of a list.
func pageParams() []*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	return []*huma.Param{
		{Name: "limit", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "1 to 500. Default: 20"},
		{Name: "after", In: "query", Schema: text, Description: "The id of the last object of the previous page"},
		{Name: "before", In: "query", Schema: text, Description: "Not supported"},
		{Name: "order", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"asc", "desc"}}, Description: "Order by the time of creation. Default: desc"},
	}
}

// pageLimit returns the number of objects of a page.
func pageLimit(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return usualPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, knowledge.Invalid("query.limit", "must be between 1 and %d", maxPage)
	}
	return limit, nil
}

// writePage answers with the page that a request asks for of a list, newest first.
func writePage[T any](w http.ResponseWriter, r *http.Request, all []T, id func(T) string) error {
	query := r.URL.Query()
	limit, err := pageLimit(r)
	switch order := query.Get("order"); {
	case err != nil:
		return err
	case query.Get("before") != "":
		return knowledge.Invalid("query.before", "is not supported; use after with another order")
	case order == "asc":
		slices.Reverse(all)
	case order != "" && order != "desc":
		return knowledge.Invalid("query.order", "must be asc or desc")
	}
	if after := query.Get("after"); after != "" {
		at := slices.IndexFunc(all, func(one T) bool { return id(one) == after })
		if at < 0 {
			return knowledge.Invalid("query.after", "is not the id of an object of this list")
		}
		all = all[at+1:]
	}
	page := Page[T]{Object: "list", Data: all[:min(limit, len(all))], HasMore: len(all) > limit}
	if len(page.Data) > 0 {
		first, last := id(page.Data[0]), id(page.Data[len(page.Data)-1])
		page.FirstID, page.LastID = &first, &last
	} else {
		page.Data = []T{}
	}
	edge.WriteJSON(w, http.StatusOK, page)
	return nil
}
