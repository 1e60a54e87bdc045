package knowledge

import (
	"fmt"
	"reflect"
	"slices"
)

// ToolsConfig is the part of a project that concerns tools.
type ToolsConfig struct {
	MaxPerRequest int `json:"maxPerRequest,omitempty" minimum:"1" maximum:"50" doc:"The largest number of turns with tool calls; a question with the toolChoice none calls no tool. Default: 5"`
	// The model may call each of these tools if the project sets it and the instance has
	// it.
	WebSearch       *WebSearchConfig       `json:"web_search,omitempty" doc:"Let the model search the web. Refused if the instance has no web_search"`
	CodeInterpreter bool                   `json:"code_interpreter,omitempty" doc:"Let the model run code. Refused if the instance has no code_interpreter"`
	ImageGeneration *ImageGenerationConfig `json:"image_generation,omitempty" doc:"Let the model create pictures. Refused if the instance has no models.image"`
	// Approval names the tools whose calls wait for a person who approves or refuses.
	Approval     []string       `json:"approval,omitempty" maxItems:"100" doc:"Names of tools whose calls need the approval of a person: tools of Cairn, tools in custom, and name_tool for a tool of an MCP server. Unknown names are refused"`
	DeepResearch ResearchConfig `json:"deep_research,omitzero" doc:"Limits of a question with deepResearch (docs/research.md)"`
	// Custom are tools of the project's own, by their names.
	Custom CustomTools `json:"custom,omitempty" doc:"Custom tools of the project by name: 1 to 64 letters, digits, - and _. projectConfigOverride can remove them, but not change them"`
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
	Type        string         `json:"type" required:"false" enum:"automation,agent,mcp"`
	Description string         `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
	Arguments   map[string]any `json:"arguments,omitempty" doc:"JSON schema of the arguments; the type must be object. Default: any object"`
	Automation  *Automation    `json:"automation,omitempty"`
	MCP         *MCP           `json:"mcp,omitempty"`
	Agent       *Agent         `json:"agent,omitempty"`
}

// Agent is another project, which the model may ask a question.
type Agent struct {
	ID   string `json:"id" required:"false" maxLength:"200" doc:"The id of another project of the workspace, which the model may ask"`
	Name string `json:"name,omitempty" maxLength:"200" doc:"A name for people who read the configuration"`
}

// MCP is a server of the Model Context Protocol, whose tools the model may call.
type MCP struct {
	URL     string            `json:"url" required:"false" maxLength:"2000" doc:"The URL of an MCP server with streamable HTTP or SSE"`
	Headers map[string]string `json:"headers,omitempty" doc:"Headers as in an automation"`
	Tools   []MCPTool         `json:"tools,omitempty" maxItems:"64" doc:"The tools to offer. Default: all tools of the server"`
}

// MCPTool describes a tool of an MCP server.
type MCPTool struct {
	Name        string         `json:"name" required:"false" maxLength:"64"`
	Description string         `json:"description,omitempty" maxLength:"2000" doc:"What the tool does, for the model"`
	InputSchema map[string]any `json:"inputSchema,omitempty" doc:"JSON schema of the arguments; the type must be object. Default: any object"`
}

// Automation is an HTTP request that a tool sends. {name} in the address stands for an
// argument, and secrets.<name> in a header for a secret of the project.
type Automation struct {
	URL     string            `json:"url" required:"false" maxLength:"2000" doc:"{name} in its path or query is replaced by an argument"`
	Method  string            `json:"method,omitempty" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Default: POST. Only GET and HEAD are retried; other requests are sent once, with an Idempotency-Key"`
	Headers map[string]string `json:"headers,omitempty" doc:"secrets.NAME, or ${secrets.NAME} in a value, is replaced by a secret with the use header and the host of url (PUT …/secrets)"`
	Body    map[string]any    `json:"body,omitempty" doc:"Additional fields of the JSON body"`
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
			wrong = append(wrong, Field{location + ".approval", "must hold the names that the project has"})
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
	Provider           string   `json:"provider,omitempty" enum:"searxng,brave,serper,google" doc:"Default: the provider of the instance"`
	Type               string   `json:"type,omitempty" enum:"search,news,images,videos,places,scholar,patents,shopping" doc:"Default: search"`
	DateRange          string   `json:"dateRange,omitempty" enum:"qdr:h,qdr:d,qdr:w,qdr:m,qdr:y" doc:"Only pages from the last hour, day, week, month or year. Default: no limit"`
	WhitelistedDomains []string `json:"whitelistedDomains,omitempty" maxItems:"100" doc:"Only these domains and their subdomains"`
	BonusDomains       []string `json:"bonusDomains,omitempty" maxItems:"100" doc:"Results of these domains rank higher"`
	BlacklistedDomains []string `json:"blacklistedDomains,omitempty" maxItems:"100" doc:"Exclude these domains and their subdomains"`
	NumberOfResults    int      `json:"numberOfResults,omitempty" minimum:"1" maximum:"50" doc:"The number of results to ask the search engine for. Brave gives at most 20 and Google 10. Default: 15"`
	Scrape             bool     `json:"scrape,omitempty" doc:"Read the pages, not only the snippets of the search engine. Default: false"`
}

// ImageGenerationConfig says how pictures are made.
type ImageGenerationConfig struct {
	Model string `json:"model,omitempty" maxLength:"200" doc:"A model of the endpoint of models.image. The name is not checked when it is set; a call with an unknown model fails with an error that names it. Default: the configured model"`
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
