// Package custom makes tools of what a project configures: HTTP requests of its own, the
// tools of MCP servers, and other projects. All addresses are dialled through the client
// that it is given, which refuses private ones.
package custom

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Limit bounds one call.
const Limit = time.Minute

// Secrets has the named secrets.
type Secrets interface {
	// Value returns a secret that a project may use, and whether a user stored it. One that
	// the project may not use is knowledge.CodeInvalid, as one that does not exist.
	Value(ctx context.Context, name string, n knowledge.SecretNeed) (value []byte, stored bool, err error)
}

// Tools makes the custom tools of a question. It is safe for concurrent use.
type Tools struct {
	client  *http.Client
	secrets Secrets

	mu       sync.Mutex
	listings map[string]listing // of MCP servers, by their settings
}

// New returns Tools. client must refuse private addresses.
func New(client *http.Client, secrets Secrets) *Tools {
	return &Tools{client: withinHost(client), secrets: secrets, listings: map[string]listing{}}
}

// withinHost returns a client that follows redirects of GET and HEAD to the same origin
// alone: headers of a tool may hold secrets, and a POST must not be sent twice.
func withinHost(client *http.Client) *http.Client {
	own, check := *client, client.CheckRedirect
	own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		first := via[0]
		if first.Method != http.MethodGet && first.Method != http.MethodHead || r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme {
			return http.ErrUseLastResponse
		}
		if check != nil {
			return check(r, via)
		}
		return nil
	}
	return &own
}

// Of is a tool.Source.
func (t *Tools) Of(ctx context.Context, r knowledge.Request) (tool.Set, error) {
	var set tool.Set
	custom, need := r.Config.Tools.Custom, needOf(r)
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		switch c := custom[name]; {
		case c.Automation != nil:
			set = append(set, t.automation(name, c, need))
		case c.Agent != nil:
			if agent := tool.NewAgent(name, c); r.Principal.CoversProject(c.Agent.ID) && len(r.Documents) == 0 {
				set = append(set, agent)
			}
		case c.MCP != nil:
			for _, offered := range t.mcpTools(ctx, name, c, need) {
				if _, taken := set.Find(offered.Name); !taken { // of two servers whose names run into each other
					set = append(set, offered)
				}
			}
		}
	}
	return set, nil
}

// needOf returns what the tools of a question's project need secrets for. They are the
// project's that the question asks; one that asks no single project has no such tools.
func needOf(r knowledge.Request) knowledge.SecretNeed {
	n := knowledge.SecretNeed{Workspace: r.Principal.Workspace(), Use: knowledge.SecretInHeader}
	if len(r.Projects) == 1 {
		n.Project = r.Projects[0]
	}
	return n
}

// header returns the headers of a tool with their secrets, which are sent to need.Host.
func (t *Tools) header(ctx context.Context, configured map[string]string, need knowledge.SecretNeed) (http.Header, error) {
	header := http.Header{}
	for name, value := range configured {
		var failed error
		value = tool.Secret.ReplaceAllStringFunc(value, func(named string) string {
			m := tool.Secret.FindStringSubmatch(named)
			secret, _, err := t.secrets.Value(ctx, m[1]+m[2], need)
			if err != nil {
				failed = err
			}
			return strings.TrimSpace(string(secret))
		})
		if failed != nil {
			return nil, failed
		}
		header.Set(name, value)
	}
	return header, nil
}
