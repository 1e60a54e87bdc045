package knowledge

import (
	"fmt"
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
// that before did not set, and that are not among those of the instance.
func (t ToolsConfig) MissingFields(location string, before ToolsConfig, instance []string) []Field {
	var wrong []Field
	for _, name := range t.Set() {
		if !slices.Contains(instance, name) && !slices.Contains(before.Set(), name) {
			wrong = append(wrong, Field{location + "." + name, fmt.Sprintf("this instance has no tool %s; docs/tools.md says what it needs", name)})
		}
	}
	return wrong
}
