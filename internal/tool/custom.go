package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

var (
	customName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
	// Secret is how a header names a secret.
	Secret = regexp.MustCompile(`\$\{secrets\.([a-z0-9][a-z0-9_-]{0,62})\}|^secrets\.([a-z0-9][a-z0-9_-]{0,62})$`)
	// Placeholder is how an address names an argument.
	Placeholder = regexp.MustCompile(`\{([A-Za-z0-9_-]{1,64})\}`)
	credential  = regexp.MustCompile(`(?i)^(authorization|proxy-authorization|cookie)$|key|token|secret|password`)
)

// unknown stands for the name of any tool that there is not.
const unknown = "unknown_tool"

// taken are names that custom tools cannot have.
var taken = []string{
	DocumentsRAG, FileSearch, FileSummary, ListDocuments, OpenDocument, GrepDocuments, QueryTable,
	knowledge.ToolWebSearch, knowledge.ToolCodeInterpreter, knowledge.ToolImageGeneration, unknown,
}

// ownHeaders are set by the request itself.
var ownHeaders = []string{"host", "content-length", "content-type", "connection", "transfer-encoding", "upgrade", "te", "trailer", "idempotency-key", "expect"}

// SecretCheck returns what is wrong with the name of a secret that a tool sends to a host, ""
// = nothing.
type SecretCheck func(name, host string) string

// CustomFields returns what is wrong with the tools of a project, as found at location.
// checkURL refuses an address that is never dialled.
func CustomFields(location string, tools map[string]knowledge.CustomTool, wrongSecret SecretCheck, checkURL func(string) error) []knowledge.Field {
	var wrong []knowledge.Field
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		at, t := location+"."+name, tools[name]
		switch {
		case !customName.MatchString(name):
			return append(wrong, knowledge.Field{Location: location, Message: "must have names of 1 to 64 letters, digits, - and _"})
		case slices.Contains(taken, name):
			wrong = append(wrong, knowledge.Field{Location: at, Message: "is the name of a tool of Cairn: choose another"})
		case !slices.Contains([]string{knowledge.ToolAutomation, knowledge.ToolMCP, knowledge.ToolAgent}, t.Type):
			wrong = append(wrong, knowledge.Field{Location: at + ".type", Message: "must be automation, agent or mcp"})
		case t.Type == knowledge.ToolAgent && (t.Agent == nil || t.Agent.ID == "" || t.Automation != nil || t.MCP != nil || t.Arguments != nil):
			wrong = append(wrong, knowledge.Field{Location: at + ".agent", Message: "is required, with the id of a project; automation, mcp and arguments are not allowed with it"})
		case t.Type != knowledge.ToolAgent && t.Agent != nil:
			wrong = append(wrong, knowledge.Field{Location: at + ".agent", Message: "belongs to the type agent"})
		case t.Type == knowledge.ToolMCP && (t.MCP == nil || t.Automation != nil || t.Arguments != nil):
			wrong = append(wrong, knowledge.Field{Location: at + ".mcp", Message: "is required; automation and arguments are not allowed with it"})
		case t.Type == knowledge.ToolAutomation && t.MCP != nil:
			wrong = append(wrong, knowledge.Field{Location: at + ".mcp", Message: "belongs to the type mcp"})
		case t.Type == knowledge.ToolAutomation && t.Automation == nil:
			wrong = append(wrong, knowledge.Field{Location: at + ".automation", Message: "is required"})
		}
		if t.Arguments != nil {
			if err := CheckSchema(Schema(t)); err != nil {
				wrong = append(wrong, knowledge.Field{Location: at + ".arguments", Message: knowledge.Messagef("%s", err)})
			}
		}
		if t.Automation != nil {
			wrong = append(wrong, automationFields(at+".automation", *t.Automation, wrongSecret, checkURL)...)
		}
		if t.MCP != nil {
			wrong = append(wrong, mcpFields(at+".mcp", name, *t.MCP, wrongSecret, checkURL)...)
		}
	}
	return wrong
}

// Schema returns the JSON schema of a tool's arguments.
func Schema(t knowledge.CustomTool) json.RawMessage { return ObjectSchema(t.Arguments) }

// ObjectSchema returns a configured JSON schema; nil = any object.
func ObjectSchema(configured map[string]any) json.RawMessage {
	if configured == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	schema, err := json.Marshal(configured)
	if err != nil {
		panic(err) // what was read from JSON always has a JSON form
	}
	return schema
}

func automationFields(at string, a knowledge.Automation, wrongSecret SecretCheck, checkURL func(string) error) []knowledge.Field {
	wrong := headerFields(at+".headers", a.Headers, hostOf(a.URL), wrongSecret)
	if message := wrongAddress(a.URL, checkURL); message != "" {
		wrong = append(wrong, knowledge.Field{Location: at + ".url", Message: message})
	}
	return wrong
}

// mcpFields returns what is wrong with the server of a tool.
func mcpFields(at, name string, m knowledge.MCP, wrongSecret SecretCheck, checkURL func(string) error) []knowledge.Field {
	wrong := headerFields(at+".headers", m.Headers, hostOf(m.URL), wrongSecret)
	if message := wrongAddress(m.URL, checkURL); message != "" || strings.ContainsAny(m.URL, "{}") {
		wrong = append(wrong, knowledge.Field{Location: at + ".url", Message: cmp.Or(message, "must be an http or https address without arguments")})
	}
	for i, t := range m.Tools {
		location := fmt.Sprintf("%s.tools[%d]", at, i)
		if !IsName(name + "_" + t.Name) {
			wrong = append(wrong, knowledge.Field{Location: location + ".name", Message: "must have, with the name of the server and _ before it, 1 to 64 letters, digits, - and _"})
		}
		if err := CheckSchema(ObjectSchema(t.InputSchema)); err != nil {
			wrong = append(wrong, knowledge.Field{Location: location + ".inputSchema", Message: knowledge.Messagef("%s", err)})
		}
	}
	return wrong
}

// IsName reports whether endpoints accept a text as the name of a tool.
func IsName(name string) bool { return customName.MatchString(name) }

// hostOf returns the host of a tool's address, which no argument changes, "" for a wrong
// address.
func hostOf(address string) string {
	u, err := url.Parse(Placeholder.ReplaceAllString(address, "x"))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// wrongAddress returns what is wrong with the address of a tool.
func wrongAddress(address string, checkURL func(string) error) string {
	u, err := url.Parse(Placeholder.ReplaceAllString(address, "x"))
	if err != nil || u.Fragment != "" || u.Host == "" {
		return "must be an http or https address"
	}
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if strings.ContainsAny(rest, "{}") {
		return "must have its arguments after the host"
	}
	if err := checkURL(u.String()); err != nil {
		return knowledge.AsError(err).Message
	}
	return ""
}

// headerFields returns what is wrong with the headers of a tool. Credentials must be
// secrets: the settings of a project are shown to whoever manages it.
func headerFields(at string, headers map[string]string, host string, wrongSecret SecretCheck) []knowledge.Field {
	var wrong []knowledge.Field
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := headers[name]
		message := ""
		switch {
		case !headerName.MatchString(name):
			return append(wrong, knowledge.Field{Location: at, Message: "must have the names of HTTP headers"})
		case slices.Contains(ownHeaders, strings.ToLower(name)):
			message = "cannot be set"
		case len(value) > 2000 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			message = "must be at most 2000 characters on one line"
		case credential.MatchString(name) && !Secret.MatchString(value):
			message = "must come from a secret: write secrets.NAME, or ${secrets.NAME} in the value"
		}
		for _, m := range Secret.FindAllStringSubmatch(value, -1) {
			secret := m[1] + m[2]
			if wrong := wrongSecret(secret, host); wrong != "" {
				message = fmt.Sprintf("names %q, which %s", secret, wrong)
			}
		}
		if message != "" {
			wrong = append(wrong, knowledge.Field{Location: at + "." + name, Message: message})
		}
	}
	return wrong
}
