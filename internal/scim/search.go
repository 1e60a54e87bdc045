package scim

import (
	"net/http"
	"net/url"
	"strings"

	scim "github.com/elimity-com/scim"
)

// Search implements scim.ResourceSearcher.
func (h *users) Search(r *http.Request, params scim.SearchParams) (scim.Page, error) {
	return h.GetAll(asQuery(r, params))
}

// Search implements scim.ResourceSearcher.
func (h *groupHandler) Search(r *http.Request, params scim.SearchParams) (scim.Page, error) {
	return h.GetAll(asQuery(r, params))
}

// asQuery returns the request of a list that asks for the same as a search.
func asQuery(r *http.Request, params scim.SearchParams) (*http.Request, scim.ListRequestParams) {
	query := url.Values{"attributes": {strings.Join(params.Attributes, ",")}, "excludedAttributes": {strings.Join(params.ExcludedAttributes, ",")}}
	inner := r.Clone(r.Context())
	inner.URL.RawQuery = query.Encode()
	return inner, scim.ListRequestParams{Count: params.Count, FilterValidator: params.FilterValidator, StartIndex: params.StartIndex}
}
