package a2a

// Agent is what the card of an agent says.
type Agent struct {
	Name, Description string
	Skill             string   // the name of its one skill
	Examples          []string // of questions
	URL               string   // to which clients post their calls
	IconURL           string   // "" = there is no picture
	Version           string
	Closed            bool // callers need a key
}

// Card returns the card of an agent that answers questions. A client of version 1.0 reads
// supportedInterfaces, and one of version 0.3 the fields beside it, which the card of a closed
// agent lacks: the two describe credentials in different ways.
func Card(a Agent) map[string]any {
	skill := map[string]any{"id": "answer", "name": a.Skill, "description": a.Description, "tags": []string{"questions", "documents", "citations"}}
	if len(a.Examples) > 0 {
		skill["examples"] = a.Examples
	}
	card := map[string]any{
		"name": a.Name, "description": a.Description, "version": a.Version,
		"supportedInterfaces": []map[string]string{
			{"url": a.URL, "protocolBinding": "JSONRPC", "protocolVersion": string(V1)},
			{"url": a.URL, "protocolBinding": "JSONRPC", "protocolVersion": string(V03)},
		},
		"capabilities":      map[string]bool{"streaming": true, "pushNotifications": false},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/markdown", "application/json"},
		"skills": []any{skill},
	}
	if a.IconURL != "" {
		card["iconUrl"] = a.IconURL
	}
	if a.Closed {
		card["securitySchemes"] = map[string]any{"key": map[string]any{"httpAuthSecurityScheme": map[string]string{"scheme": "Bearer"}}}
		card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"key": map[string]any{"list": []string{}}}}}
		return card
	}
	card["url"], card["protocolVersion"], card["preferredTransport"] = a.URL, "0.3.0", "JSONRPC"
	return card
}
