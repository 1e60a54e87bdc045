package custom_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/tool/custom"
)

type weatherArguments struct {
	Place string `json:"place" jsonschema:"where"`
}

// mcpServer is a server with a tool that reads, one that writes and one that fails.
func mcpServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	say := func(words string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
	}
	mcp.AddTool(server, &mcp.Tool{Name: "look", Description: "Says the weather.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest, in weatherArguments) (*mcp.CallToolResult, any, error) {
			progress := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "looks"}
			if err := r.Session.NotifyProgress(ctx, progress); err != nil {
				return nil, nil, err
			}
			return say("It rains in " + in.Place + "."), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "order_umbrella"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return say("ordered"), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		result := say("no umbrella is left")
		result.IsError = true
		return result, nil, nil
	})
	return server
}

// serve serves MCP for callers with the key of the tests. It counts the sessions that begin.
func serve(t *testing.T, handler http.Handler) (address string, sessions *atomic.Int32) {
	t.Helper()
	sessions = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		if r.Header.Get("Mcp-Session-Id") == "" && r.Method == http.MethodPost {
			sessions.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server.URL, sessions
}

func streamable() http.Handler {
	server := mcpServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// offered returns the tools of a project with a server named weather.
func offered(t *testing.T, source *custom.Tools, m knowledge.MCP) tool.Set {
	t.Helper()
	r := question()
	r.Config.Tools.Custom = knowledge.CustomTools{"weather": {Type: knowledge.ToolMCP, Description: "Ours.", MCP: &m}}
	set, err := source.Of(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func callNamed(t *testing.T, set tool.Set, name, arguments string) (tool.Output, []string, error) {
	t.Helper()
	found, ok := set.Find(name)
	if !ok {
		t.Fatalf("there is no %s, only %v", name, set.Names())
	}
	var shown []string
	out, err := found.Run(t.Context(), tool.Call{
		RunRef: knowledge.RunRef{Run: "r"}, Turn: 1, Arguments: arguments,
		Events: func(event string, data any) {
			encoded, err := json.Marshal(data)
			if err != nil {
				t.Error(err)
			}
			shown = append(shown, event+" "+string(encoded))
		},
	})
	return out, shown, err
}

func TestMCPTools(t *testing.T) {
	t.Parallel()
	server := mcpServer()
	for name, handler := range map[string]http.Handler{
		"streamable HTTP": streamable(),
		"SSE":             mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := serve(t, handler)
			source := custom.New(open().Client(custom.Limit), secrets("127.0.0.1"))
			set := offered(t, source, knowledge.MCP{URL: address, Headers: map[string]string{"Authorization": "Bearer ${secrets.shop}"}})
			names := set.Names()
			slices.Sort(names)
			if diff := cmp.Diff([]string{"weather_fail", "weather_look", "weather_order_umbrella"}, names); diff != "" {
				t.Fatal(diff)
			}
			look, _ := set.Find("weather_look")
			if order, _ := set.Find("weather_order_umbrella"); look.Once || !order.Once {
				t.Errorf("once: look %t, order %t", look.Once, order.Once)
			}
			if look.Description != "Ours.\nSays the weather." || !strings.Contains(string(look.Parameters), `"place"`) {
				t.Errorf("%q, %s", look.Description, look.Parameters)
			}
			out, shown, err := callNamed(t, set, "weather_look", `{"place":"Rome"}`)
			if err != nil || out.Words != "It rains in Rome." {
				t.Errorf("%+v, %v", out, err)
			}
			if diff := cmp.Diff([]string{`progress {"message":"looks","progress":1,"total":2}`}, shown); diff != "" {
				t.Error(diff)
			}
			out, _, err = callNamed(t, set, "weather_fail", `{}`)
			if err != nil || out.Words != "The tool reports an error: no umbrella is left" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

func TestMCPToolsAreRemembered(t *testing.T) {
	t.Parallel()
	address, sessions := serve(t, streamable())
	source := custom.New(open().Client(custom.Limit), secrets("127.0.0.1"))
	m := knowledge.MCP{URL: address, Headers: map[string]string{"Authorization": "Bearer ${secrets.shop}"}}
	offered(t, source, m)
	once := sessions.Load()
	for range 3 {
		offered(t, source, m)
	}
	if n := sessions.Load(); once == 0 || n != once {
		t.Errorf("%d sessions began for one listing, %d for four", once, n)
	}
}

// TestMCPToolsAreRememberedForTheirProject names a server with the secret of another
// workspace, which has listed its tools.
func TestMCPToolsAreRememberedForTheirProject(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, streamable())
	source := custom.New(open().Client(custom.Limit), secrets("127.0.0.1"))
	m := knowledge.MCP{URL: address, Headers: map[string]string{"Authorization": "Bearer ${secrets.shop}"}}
	if set := offered(t, source, m); len(set) != 3 {
		t.Fatalf("the owner has the tools %v", set.Names())
	}
	r := question()
	r.Principal = knowledgetest.Principal(knowledge.Claims{Workspace: "other"})
	r.Config.Tools.Custom = knowledge.CustomTools{"weather": {Type: knowledge.ToolMCP, MCP: &m}}
	set, err := source.Of(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"weather"}, set.Names()); diff != "" {
		t.Errorf("another workspace has tools of the owner: %s", diff)
	}
}

func TestMCPToolsThatTheProjectDescribes(t *testing.T) {
	t.Parallel()
	address, sessions := serve(t, streamable())
	source := custom.New(open().Client(custom.Limit), secrets("127.0.0.1"))
	set := offered(t, source, knowledge.MCP{URL: address, Headers: map[string]string{"Authorization": "Bearer ${secrets.shop}"}, Tools: []knowledge.MCPTool{
		{Name: "look", Description: "Looks.", InputSchema: map[string]any{"type": "object", "required": []any{"place"}}},
	}})
	if diff := cmp.Diff([]string{"weather_look"}, set.Names()); diff != "" || sessions.Load() != 0 {
		t.Errorf("%d sessions, %s", sessions.Load(), diff)
	}
	if out, _, err := callNamed(t, set, "weather_look", `{"place":"Oslo"}`); err != nil || out.Words != "It rains in Oslo." {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestMCPServerThatCannotBeReached: no key, nobody there, and addresses inside.
func TestMCPServerThatCannotBeReached(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, streamable())
	closed := httptest.NewServer(nil)
	closed.Close()
	inside := safedial.New(safedial.Config{})
	for name, tc := range map[string]struct {
		dialer *safedial.Dialer
		url    string
	}{
		"no key": {open(), address}, "nobody": {open(), closed.URL}, "loopback": {inside, address}, "metadata": {inside, "http://169.254.169.254/"},
		"IPv6": {inside, "http://[::1]:80/"}, "a number": {inside, "http://2130706433/"},
	} {
		set := offered(t, custom.New(tc.dialer.Client(custom.Limit), secrets()), knowledge.MCP{URL: tc.url})
		if diff := cmp.Diff([]string{"weather"}, set.Names()); diff != "" {
			t.Errorf("%s: %s", name, diff)
			continue
		}
		if _, _, err := callNamed(t, set, "weather", `{}`); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
