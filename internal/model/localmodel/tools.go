package localmodel

import (
	"encoding/json"
	"slices"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// searchTool is the tool that finds passages.
const searchTool = "documents_rag"

// chooseTool gives the tool to call, if one is to be called: the one that the
// request insists on, else the search, if the last question was not searched for
// yet: the conversation has no passages, or they were found without the question
// before, on which the last one leans.
func chooseTool(req protocol.ChatRequest) (tool protocol.Tool, ok bool) {
	find := func(name string) (protocol.Tool, bool) {
		i := slices.IndexFunc(req.Tools, func(t protocol.Tool) bool { return t.Function.Name == name })
		if i < 0 {
			return protocol.Tool{}, false
		}
		return req.Tools[i], true
	}
	switch req.ToolChoice.Mode {
	case "none":
		return tool, false
	case "function":
		return find(req.ToolChoice.Name)
	case "required":
		if tool, ok = find(searchTool); ok {
			return tool, true
		}
		return req.Tools[0], true
	default:
		tool, ok = find(searchTool)
		asked := req.Messages[len(req.Messages)-1].Role == "user"
		return tool, ok && asked && (len(findSources(req.Messages)) == 0 || readQuestion(req.Messages).previous != "")
	}
}

// arguments fills a tool's parameters: what must be text gets the question, and
// everything else that is required the smallest value that its schema allows.
func arguments(tool protocol.Tool, query string) string {
	var schema parameter
	// A schema that cannot be read asks for nothing that we could fill in.
	_ = json.Unmarshal(tool.Function.Parameters, &schema)
	values := map[string]any{}
	for _, name := range schema.Required {
		values[name] = schema.Properties[name].value(query)
	}
	if _, ok := schema.Properties["query"]; ok || tool.Function.Name == searchTool {
		values["query"] = query
	}
	b, err := json.Marshal(values)
	if err != nil {
		return "{}" // texts, numbers and lists always marshal
	}
	return string(b)
}

// parameter is the part of a JSON schema that is looked at.
type parameter struct {
	Type       any                  `json:"type"`
	Enum       []any                `json:"enum"`
	Minimum    float64              `json:"minimum"`
	Items      *parameter           `json:"items"`
	Properties map[string]parameter `json:"properties"`
	Required   []string             `json:"required"`
}

func (p parameter) value(query string) any {
	if len(p.Enum) > 0 {
		return p.Enum[0]
	}
	kind, _ := p.Type.(string)
	switch kind {
	case "integer", "number":
		return p.Minimum
	case "boolean":
		return false
	case "array":
		if p.Items != nil && p.Items.Type == "string" && len(p.Items.Enum) == 0 {
			return []any{query}
		}
		return []any{}
	case "object":
		values := map[string]any{}
		for _, name := range p.Required {
			values[name] = p.Properties[name].value(query)
		}
		return values
	default:
		return query
	}
}
