package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// readOnly describes a tool that changes nothing; openWorld says that it reaches the web.
func readOnly(openWorld bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &openWorld}
}

// The schemas of the results that are passed on as the API gave them. They name what a
// program relies on; openapi.json has the rest.
var (
	ragSearchOutput = schema(`{"type": "object", "required": ["response", "contexts", "sources_used", "execution_id"], "properties": {
		"response": {"type": "string", "description": "The answer, with citations as <citation id=\"CHUNK\">[n]</citation>, where n is the rank of a context"},
		"contexts": {"type": "array", "items": {"type": "object", "required": ["rank", "chunk_id", "document_id", "text_preview", "used_in_response"], "properties": {
			"rank": {"type": "integer"}, "chunk_id": {"type": "string"}, "document_id": {"type": "string"}, "text_preview": {"type": "string"}, "used_in_response": {"type": "boolean"}}}},
		"sources_used": {"type": "array", "items": {"type": "integer"}, "description": "The ranks that the response cites"},
		"model": {"type": "string"}, "execution_id": {"type": "string"}}}`)
	webSearchOutput = schema(`{"type": "object", "required": ["query", "response", "sources", "sources_used", "execution_id"], "properties": {
		"query": {"type": "string"},
		"response": {"type": "string", "description": "The answer, with citations as <web_citation url=\"\" title=\"\">[n]</web_citation>, where n is the rank of a source"},
		"sources": {"type": "array", "items": {"type": "object", "required": ["rank", "title", "url"], "properties": {
			"rank": {"type": "integer"}, "title": {"type": "string"}, "url": {"type": "string"}, "snippet": {"type": "string"}, "used_in_response": {"type": "boolean"}}}},
		"sources_used": {"type": "array", "items": {"type": "integer"}},
		"model": {"type": "string"}, "execution_id": {"type": "string"}}}`)
	askOutput = schema(`{"type": "object", "required": ["messageId", "conversationId", "runId", "answer", "sources"], "properties": {
		"messageId": {"type": "string"}, "conversationId": {"type": "string", "description": "Names the conversation in the next question"}, "runId": {"type": "string"},
		"answer": {"type": "string", "description": "With citations as <citation id=\"CHUNK\">[n]</citation>, where n is the rank of a source"},
		"sources": {"type": "array", "items": {"type": "object", "required": ["rank", "usedInResponse"], "properties": {
			"rank": {"type": "integer"}, "chunkId": {"type": "string"}, "documentId": {"type": "string"}, "documentName": {"type": "string"}, "text": {"type": "string"}, "usedInResponse": {"type": "boolean"}}}},
		"model": {"type": "string"}}}`)
	chunkOutput = schema(`{"type": "object", "required": ["id"], "properties": {
		"id": {"type": "string"}, "document_id": {"type": "string"}, "text": {"type": "string"},
		"page_number": {"type": ["integer", "null"]}, "bbox": {"type": "array"}, "lines": {"type": "array"}, "superseded": {"type": "boolean"},
		"found": {"type": "boolean", "description": "With quote: whether it stands in the passage"},
		"start": {"type": ["integer", "null"], "description": "With quote: in code points of the text"}, "end": {"type": ["integer", "null"]}, "boxes": {"type": "array"}}}`)
)

// schema returns JSON text as a schema. The text is a constant, so one that is not JSON is
// a defect.
func schema(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		panic("mcpserver: a schema is not JSON")
	}
	return json.RawMessage(text)
}
