package knowledge

import (
	"fmt"
	"slices"
)

// The values of AIConfig.SelfQuery.
const (
	SelfQueryDisabled = "disabled"
	SelfQueryEnabled  = "enabled" // the chat model chooses, for each question
	SelfQueryUser     = "user"    // the user chooses, in a question or in its preferences
)

// MandatoryTags are the tags to which the questions of some users and groups are
// restricted.
type MandatoryTags struct {
	Users  []string `json:"users,omitempty" maxItems:"1000" doc:"User ids of either kind: userId or externalUserId"`
	Groups []string `json:"groups,omitempty" maxItems:"1000"`
	Tags   []string `json:"tags" minItems:"1" maxItems:"64"`
}

func (m MandatoryTags) applyTo(p Principal) bool {
	c := p.Claims()
	return c.User != "" && slices.Contains(m.Users, c.User) || c.ExternalUser != "" && slices.Contains(m.Users, c.ExternalUser) ||
		slices.ContainsFunc(c.Groups, func(g string) bool { return slices.Contains(m.Groups, g) })
}

// MandatoryFor returns the tags of which every document that the principal asks must have
// one. None = every document.
func (c AIConfig) MandatoryFor(p Principal) []string {
	var tags []string
	for _, m := range c.MandatoryTags {
		if m.applyTo(p) {
			tags = append(tags, m.Tags...)
		}
	}
	return tags
}

// AnyTag returns the filter of the documents with one of the tags. Without tags it
// restricts nothing.
func AnyTag(tags []string) Filter {
	if len(tags) == 0 {
		return nil
	}
	return Filter{{Field: FieldTags, Type: OpIn, Value: tags}}
}

// tagFields returns what is wrong with the tags of a configuration, as found at location.
func (c AIConfig) tagFields(location string) []Field {
	wrong := TagFields(location+".tags", c.Tags)
	for i, m := range c.MandatoryTags {
		at := fmt.Sprintf("%s.mandatoryTags[%d]", location, i)
		wrong = append(wrong, TagFields(at+".tags", m.Tags)...)
		if len(m.Tags) == 0 {
			wrong = append(wrong, Field{at + ".tags", "must have a tag"})
		}
		if len(m.Users)+len(m.Groups) == 0 {
			wrong = append(wrong, Field{at, "must name a user or a group"})
		}
	}
	return wrong
}
