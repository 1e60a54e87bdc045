package knowledge

import (
	"fmt"
	"reflect"
	"slices"
)

// ToolsConfig is the part of a project that concerns tools.
type ToolsConfig struct {
	MaxPerRequest int `json:"maxPerRequest,omitempty"` // turns in which the model may call tools
	// The model may call each of these tools if the project sets it and the instance has
	// it.
	WebSearch       *WebSearchConfig       `json:"web_search,omitempty"`
	CodeInterpreter bool                   `json:"code_interpreter,omitempty"`
	ImageGeneration *ImageGenerationConfig `json:"image_generation,omitempty"`
	// Approval names the tools whose calls wait for a person who approves or refuses.
	Approval     []string       `json:"approval,omitempty"`
	DeepResearch ResearchConfig `json:"deep_research,omitzero"`
	// Custom are tools of the project's own, by their names.
	Custom CustomTools `json:"custom,omitempty"`
}

// CustomTools are tools that a project defines, by their names.
type CustomTools map[string]CustomTool

// The types of a CustomTool.
const (
	ToolAutomation = "automation"
	ToolMCP        = "mcp"
	ToolAgent      = "agent"
)

// CustomTool is a tool that a project defines.
type CustomTool struct {
	Type        string         `json:"type"`
	Description string         `json:"description,omitempty"` // for the model
	Arguments   map[string]any `json:"arguments,omitempty"`   // JSON schema
	Automation  *Automation    `json:"automation,omitempty"`
	MCP         *MCP           `json:"mcp,omitempty"`
	Agent       *Agent         `json:"agent,omitempty"`
}

// Agent is another project, which the model may ask a question.
type Agent struct {
	ID   string `json:"id"`             // of the project
	Name string `json:"name,omitempty"` // for people who read the configuration
}

// MCP is a server of the Model Context Protocol, whose tools the model may call.
type MCP struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"` // as in an Automation
	Tools   []MCPTool         `json:"tools,omitempty"`   // the only ones that are offered; empty = those that the server lists
}

// MCPTool describes a tool of an MCP server.
type MCPTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema map[string]any `json:"inputSchema,omitempty"` // JSON schema of the arguments
}

// Automation is an HTTP request that a tool sends. {name} in the address stands for an
// argument, and secrets.<name> in a header for a secret of the project.
type Automation struct {
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"` // "" = POST
	Headers map[string]string `json:"headers,omitempty"`
	Body    map[string]any    `json:"body,omitempty"` // fields beside the arguments
}

// LockedFields returns what the configuration of one question, as found at location,
// changes in its project's configuration and must not: who asks could otherwise send the
// project's secrets to another path, or approve their own calls. It may leave out custom tools.
func (t ToolsConfig) LockedFields(location string, project ToolsConfig) []Field {
	var wrong []Field
	for name, tool := range t.Custom {
		if there, ok := project.Custom[name]; !ok || !reflect.DeepEqual(there, tool) {
			wrong = append(wrong, Field{location + ".custom", "cannot be changed for one question; null leaves a tool out"})
			break
		}
	}
	for _, name := range project.Approval {
		if !slices.Contains(t.Approval, name) {
			wrong = append(wrong, Field{location + ".approval", "must hold those of the project"})
			break
		}
	}
	return wrong
}

// The names of the tools that a project sets.
const (
	ToolWebSearch       = "web_search"
	ToolCodeInterpreter = "code_interpreter"
	ToolImageGeneration = "image_generation"
)

// WebSearchConfig says how the web is searched.
type WebSearchConfig struct {
	Provider           string   `json:"provider,omitempty"` // "" = the instance's
	Type               string   `json:"type,omitempty"`
	DateRange          string   `json:"dateRange,omitempty"`
	WhitelistedDomains []string `json:"whitelistedDomains,omitempty"`
	BonusDomains       []string `json:"bonusDomains,omitempty"`
	BlacklistedDomains []string `json:"blacklistedDomains,omitempty"`
	Scrape             bool     `json:"scrape,omitempty"` // read the pages that were found
}

// ImageGenerationConfig says how pictures are made.
type ImageGenerationConfig struct {
	Model string `json:"model,omitempty"` // "" = the instance's
}

// Set returns the names of the tools that the project sets.
func (t ToolsConfig) Set() []string {
	var names []string
	for name, set := range map[string]bool{
		ToolWebSearch: t.WebSearch != nil, ToolCodeInterpreter: t.CodeInterpreter, ToolImageGeneration: t.ImageGeneration != nil,
	} {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ComponentError is CodeNeedsComponent if the configuration sets a tool, that before did
// not set, without the programs that it needs. install says how to install these, by the
// name of the tool.
func (t ToolsConfig) ComponentError(before ToolsConfig, install map[string]string) error {
	for _, name := range t.Set() {
		if how := install[name]; how != "" && !slices.Contains(before.Set(), name) {
			return Errorf(CodeNeedsComponent, "the tool %s needs programs that are not installed here: %s", name, how)
		}
	}
	return nil
}

// MissingFields returns the tools, as found at location, that the configuration sets,
// that before did not set, and that are not among the tools of the instance.
func (t ToolsConfig) MissingFields(location string, before ToolsConfig, instance []string) []Field {
	var wrong []Field
	for _, name := range t.Set() {
		if !slices.Contains(instance, name) && !slices.Contains(before.Set(), name) {
			wrong = append(wrong, Field{location + "." + name, fmt.Sprintf("this instance has no tool %s; docs/tools.md says what it needs", name)})
		}
	}
	return wrong
}
