package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ApprovalFields returns the names of changed.Approval, as found at location, that are
// names of no tool, neither of Cairn nor of changed. Names that before had are not checked
// again. The tools of an MCP server whose settings do not list them have any name that
// begins with the server's.
func ApprovalFields(location string, before, changed knowledge.ToolsConfig) []knowledge.Field {
	known := slices.DeleteFunc(slices.Clone(taken), func(name string) bool { return name == unknown })
	var servers []string
	for _, name := range slices.Sorted(maps.Keys(changed.Custom)) {
		switch t := changed.Custom[name]; {
		case t.MCP == nil:
			known = append(known, name)
		case len(t.MCP.Tools) == 0:
			known, servers = append(known, name+"_<tool>"), append(servers, name+"_")
		default:
			for _, listed := range t.MCP.Tools {
				known = append(known, name+"_"+listed.Name)
			}
		}
	}
	var wrong []knowledge.Field
	for i, name := range changed.Approval {
		listed := func(server string) bool { return strings.HasPrefix(name, server) && IsName(name) && name != server }
		if slices.Contains(known, name) || slices.Contains(before.Approval, name) || slices.ContainsFunc(servers, listed) {
			continue
		}
		wrong = append(wrong, knowledge.Field{
			Location: fmt.Sprintf("%s[%d]", location, i),
			Message:  knowledge.Messagef("must be the name of a tool; %s is none of ", name) + knowledge.Cut(strings.Join(known, ", "), 1000),
		})
	}
	return wrong
}
