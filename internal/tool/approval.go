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
	tools := customNames(changed).with(known...)
	var wrong []knowledge.Field
	for i, name := range changed.Approval {
		if !slices.Contains(before.Approval, name) {
			wrong = append(wrong, tools.wrong(fmt.Sprintf("%s[%d]", location, i), name)...)
		}
	}
	return wrong
}

// NamesTool reports whether a choice of tools is the name of one, and no rule for all.
func NamesTool(choice string) bool {
	return !slices.Contains([]string{"", "auto", "none", "required"}, choice)
}

// ChoiceFields returns what is wrong with a choice of tools, as found at location, that is the
// name of a tool: the model of a project with these settings is not offered it.
func ChoiceFields(location, choice string, config knowledge.ToolsConfig) []knowledge.Field {
	if !NamesTool(choice) {
		return nil
	}
	own := []string{DocumentsRAG, FileSearch, FileSummary, ListDocuments, OpenDocument, GrepDocuments, QueryTable}
	return customNames(config).with(append(own, config.Set()...)...).wrong(location, choice)
}

// toolNames are the names of tools.
type toolNames struct {
	known   []string
	servers []string // beginnings of names, of the tools of MCP servers that are not listed
}

// customNames returns the names of the custom tools of a project.
func customNames(config knowledge.ToolsConfig) toolNames {
	var names toolNames
	for _, name := range slices.Sorted(maps.Keys(config.Custom)) {
		switch t := config.Custom[name]; {
		case t.MCP == nil:
			names.known = append(names.known, name)
		case len(t.MCP.Tools) == 0:
			names.known, names.servers = append(names.known, name+"_<tool>"), append(names.servers, name+"_")
		default:
			for _, listed := range t.MCP.Tools {
				names.known = append(names.known, name+"_"+listed.Name)
			}
		}
	}
	return names
}

// with returns the names behind the names of Cairn's own tools.
func (n toolNames) with(own ...string) toolNames {
	n.known = slices.Concat(own, n.known)
	return n
}

// wrong returns what is wrong with a name, as found at location.
func (n toolNames) wrong(location, name string) []knowledge.Field {
	listed := func(server string) bool { return strings.HasPrefix(name, server) && IsName(name) && name != server }
	if slices.Contains(n.known, name) || slices.ContainsFunc(n.servers, listed) {
		return nil
	}
	return []knowledge.Field{{
		Location: location,
		Message:  knowledge.Messagef("must be the name of a tool; %s is none of ", name) + knowledge.Cut(strings.Join(n.known, ", "), 1000),
	}}
}
