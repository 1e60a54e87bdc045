// Package mcpserver serves Cairn to clients of the Model Context Protocol. Its tools are
// requests to Cairn's own HTTP API, made with the caller's credentials, so that they have
// the API's rights, limits and runs and nothing beside them. New returns the server, for
// `cairn mcp`; Handler serves it at /mcp over streamable HTTP. It is not the client of
// other MCP servers.
package mcpserver
