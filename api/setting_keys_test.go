package api_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// firstOfList is the step of a path into a list.
const firstOfList = "[0]"

// settingPaths returns the paths of all objects in the settings of a project, those in lists
// and below names of the project's own included.
func settingPaths(t reflect.Type, path []string) [][]string {
	switch t.Kind() {
	case reflect.Pointer:
		return settingPaths(t.Elem(), path)
	case reflect.Slice:
		return settingPaths(t.Elem(), append(path[:len(path):len(path)], firstOfList))
	case reflect.Map:
		return settingPaths(t.Elem(), append(path[:len(path):len(path)], "anyName"))
	case reflect.Struct:
	default:
		return nil
	}
	all := [][]string{path}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			all = append(all, settingPaths(field.Type, append(path[:len(path):len(path)], name))...)
		}
	}
	return all
}

// nested returns a setting below the objects of a path.
func nested(path []string, setting map[string]any) map[string]any {
	var inner any = setting
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == firstOfList {
			inner = []any{inner}
			continue
		}
		inner = map[string]any{path[i]: inner}
	}
	return inner.(map[string]any)
}

// TestUnknownSettingsAreRefused: a key that no setting has is refused at every level, in a
// project, in a question and in an upload, and the answer names its path.
func TestUnknownSettingsAreRefused(t *testing.T) {
	t.Parallel()
	e := open(t)
	paths := settingPaths(reflect.TypeFor[knowledge.ProjectConfig](), nil)
	if len(paths) < 20 {
		t.Fatalf("only %d objects: %v", len(paths), paths)
	}
	refused := func(method, route string, body map[string]any, where string) {
		t.Helper()
		locations := e.do(method, route, e.admin, body).refused(422, knowledge.CodeInvalid)
		if !strings.Contains(strings.Join(locations, " "), where) {
			t.Errorf("%s %v: %v, want %s", route, body, locations, where)
		}
	}
	for _, path := range paths {
		setting := nested(path, map[string]any{"noSuchSetting": true})
		where := strings.ReplaceAll(strings.Join(append(path[:len(path):len(path)], "noSuchSetting"), "."), "."+firstOfList, firstOfList)
		refused("PATCH", own+"/projects/default", setting, where)
		refused("POST", hooks+"/query", map[string]any{"text": "x", "projectId": "default", "projectConfigOverride": setting}, "projectConfigOverride."+where)
	}
	hook := []any{map[string]any{"url": "https://hooks.test/", "types": []string{"queries"}, "noSuchSetting": true}}
	refused("PATCH", own+"/projects/default", map[string]any{"webhooks": hook}, "webhooks[0].noSuchSetting")
	refused("POST", hooks+"/projects", map[string]any{"slug": "s", "ai": map[string]any{"noSuchSetting": true}}, "ai.noSuchSetting")
	for _, tool := range []string{"rag_search", "web_search"} {
		refused("POST", "/tools/"+tool, map[string]any{"query": "x", "noSuchSetting": true}, "noSuchSetting")
	}
	refused("PUT", "/preferences", map[string]any{"rag": map[string]any{"noSuchSetting": true}}, "rag.noSuchSetting")
	content := map[string]any{"text": "x"}
	refused("POST", hooks+"/document?projectId=default", map[string]any{"content": content, "override": map[string]any{"noSuchSetting": true}}, "override.noSuchSetting")
	refused("POST", hooks+"/document?projectId=default", map[string]any{"content": content, "override": map[string]any{"textSplitter": map[string]any{"noSuchSetting": true}}}, "override.textSplitter.noSuchSetting")
}

// TestWebSearchSettingsAreChecked: settings that a search would refuse are refused when
// they are saved.
func TestWebSearchSettingsAreChecked(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, list := range map[string]any{"whitelistedDomains": []string{"not a domain"}, "bonusDomains": []string{"a..b"}, "blacklistedDomains": []string{""}} {
		setting := map[string]any{"tools": map[string]any{"web_search": map[string]any{name: list}}}
		where := "tools.web_search." + name
		if got := e.do("PATCH", own+"/projects/default", e.admin, setting).refused(422, knowledge.CodeInvalid); !strings.Contains(strings.Join(got, " "), where) {
			t.Errorf("%v, want %s", got, where)
		}
	}
}
