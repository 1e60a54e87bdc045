package websearch

import (
	"fmt"
	"reflect"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SourceFields returns what is wrong with switching on a search of the web beside the
// documents, as found at location. provider is the instance's, "" = none.
func SourceFields(location string, before, changed bool, provider knowledge.WebProvider) []knowledge.Field {
	if before || !changed || provider != "" {
		return nil
	}
	return []knowledge.Field{{Location: location, Message: "must be false: this instance has no search engine (web_search.provider)"}}
}

// SettingFields returns what is wrong with changed settings of a project, as found at
// location: what a search would refuse, or not do. provider is the instance's, "" = none.
// Settings that did not change are not checked again.
func SettingFields(location string, before, changed *knowledge.WebSearchConfig, provider knowledge.WebProvider) []knowledge.Field {
	if changed == nil || reflect.DeepEqual(before, changed) {
		return nil
	}
	var wrong []knowledge.Field
	for _, list := range []struct {
		name    string
		domains []string
	}{{"whitelistedDomains", changed.WhitelistedDomains}, {"bonusDomains", changed.BonusDomains}, {"blacklistedDomains", changed.BlacklistedDomains}} {
		if _, err := ParseDomains(location+"."+list.name, list.domains); err != nil {
			wrong = append(wrong, knowledge.AsError(err).Fields...)
		}
	}
	if provider == "" {
		return wrong
	}
	if changed.Provider != "" && changed.Provider != string(provider) {
		wrong = append(wrong, knowledge.Field{Location: location + ".provider", Message: fmt.Sprintf("must be %s, which this instance searches with", provider)})
	}
	if !provider.Has(knowledge.WebType(changed.Type)) {
		wrong = append(wrong, knowledge.Field{Location: location + ".type", Message: fmt.Sprintf("%s has no search for %s", provider, changed.Type)})
	}
	return wrong
}
