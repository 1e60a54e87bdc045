package connect

import (
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// optionsOf returns the options that a type of source accepts, by their names in
// a request.
func optionsOf(t source.Type) []string {
	switch t {
	case source.TypeS3:
		return []string{"endpoint", "region", "path_style", "anonymous", "role_arn", "external_id"}
	case source.TypeGCS, source.TypeAzure:
		return []string{"endpoint", "anonymous"}
	case source.TypeCrawl:
		return []string{"max_pages", "max_depth", "delay_ms"}
	}
	return nil
}

// checkOptions refuses options that the type of the source does not have, and
// combinations that contradict each other.
func checkOptions(spec source.Spec) error {
	var wrong []knowledge.Field
	accepted := optionsOf(spec.Type)
	options := reflect.ValueOf(spec.Options)
	for i := range options.NumField() {
		name, _, _ := strings.Cut(options.Type().Field(i).Tag.Get("json"), ",")
		value := options.Field(i)
		if !value.IsZero() && !slices.Contains(accepted, name) {
			wrong = append(wrong, field(name, "is no option of the type %q", string(spec.Type)))
		}
		if value.CanInt() && value.Int() < 0 {
			wrong = append(wrong, field(name, "is below 0"))
		}
	}
	o := spec.Options
	if o.Anonymous && (spec.Secret != "" || o.RoleARN != "") {
		wrong = append(wrong, field("anonymous", "contradicts a secret or a role: leave one of them out"))
	}
	if o.ExternalID != "" && o.RoleARN == "" {
		wrong = append(wrong, field("external_id", "needs role_arn"))
	}
	if spec.Secret != "" && !slices.Contains([]source.Type{source.TypeS3, source.TypeGCS, source.TypeAzure}, spec.Type) {
		wrong = append(wrong, knowledge.Field{Location: "body.source.secret", Message: knowledge.Messagef("is not used by the type %q", string(spec.Type))})
	}
	return knowledge.InvalidFields(wrong)
}

func field(name, format string, args ...any) knowledge.Field {
	return knowledge.Field{Location: "body.source.options." + name, Message: knowledge.Messagef(format, args...)}
}
