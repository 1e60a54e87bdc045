package edge

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// checkQuery refuses query parameters that the operation does not have: one that
// is ignored would do something else than was asked for. Pages and probes are
// called with anything.
func checkQuery(op *huma.Operation, rt *Route, r *http.Request) error {
	if rt.Public && !rt.Proves {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return knowledge.Errorf(knowledge.CodeMalformed, "the query string of the URL cannot be parsed: %% needs two hexadecimal digits behind it, and & stands between parameters").WithCause(err)
	}
	types := queryParameters(op, rt)
	var wrong []knowledge.Field
	for _, name := range slices.Sorted(maps.Keys(query)) {
		kind, ok := types[name]
		message := ""
		switch _, notBoolean := strconv.ParseBool(query.Get(name)); {
		case !ok:
			message = unknownParameter(name, slices.Sorted(maps.Keys(types)))
		case kind == huma.TypeBoolean && query.Get(name) != "" && notBoolean != nil:
			message = "must be true or false"
		default:
			continue
		}
		wrong = append(wrong, knowledge.Field{Location: "query." + name, Message: message})
	}
	return knowledge.InvalidFields(wrong)
}

// queryParameters returns the types of the query parameters that an operation has.
func queryParameters(op *huma.Operation, rt *Route) map[string]string {
	types := map[string]string{}
	if !rt.Public { // guard reads for whom the request acts
		for _, name := range ActingNames() {
			types[name] = huma.TypeString
		}
	}
	for _, p := range op.Parameters {
		if p.In == "query" {
			types[p.Name] = p.Schema.Type
		}
	}
	return types
}

func unknownParameter(name string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	for _, other := range names {
		if strings.EqualFold(plain.Replace(name), plain.Replace(other)) {
			return fmt.Sprintf("is not a parameter of this route; it is written %s", other)
		}
	}
	if len(names) == 0 {
		return "is not a parameter of this route, which has none"
	}
	return "is not a parameter of this route, which has " + strings.Join(names, ", ")
}

// IsSet reports whether a boolean query parameter is true. guard has refused other
// values.
func IsSet(r *http.Request, name string) bool {
	set, err := strconv.ParseBool(r.URL.Query().Get(name))
	return err == nil && set
}
