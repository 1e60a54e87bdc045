package localmodel

import (
	"encoding/json"
	"slices"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// searchTool is the name of the tool that finds passages.
const searchTool = "documents_rag"

// chooseTool returns the tool to call, if there is one: the tool that the
// request requires, else the search if the last question was not searched for
// yet. That is so if the conversation has no passages, or if they were found
// without the previous question to which the last one refers.
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

// arguments fills in a tool's parameters: required text parameters get the
// question, other required parameters the smallest value that the schema
// allows.
func arguments(tool protocol.Tool, query string) string {
	var schema parameter
	// A schema that cannot be decoded has no parameters to fill in.
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

// parameter is the part of a JSON schema that arguments uses.
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
