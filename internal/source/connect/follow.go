package connect

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/crawl"
	"github.com/cairn-rag/cairn/internal/source/drive"
	"github.com/cairn-rag/cairn/internal/source/git"
	"github.com/cairn-rag/cairn/internal/source/imap"
	"github.com/cairn-rag/cairn/internal/source/notion"
	"github.com/cairn-rag/cairn/internal/source/sharepoint"
	"github.com/cairn-rag/cairn/internal/source/throttle"
	"github.com/cairn-rag/cairn/internal/source/webdav"
)

// kind is a type of places that can be followed.
type kind struct {
	settings []string // that a connection may have, by their names in a request
	scope    []string // that a sync may have
	mirrors  bool     // it knows who may see an object
	slow     throttle.Slow

	checkConnection func(source.Follow) error
	checkScope      func(source.Follow) error
	try             func(context.Context, source.Follow, *http.Client) error
	follow          func(source.Follow, *http.Client) (source.Source, error)
	// secretEnds is nil if no secret of the type says when it expires.
	secretEnds func(context.Context, source.Follow, *http.Client) (time.Time, error)
}

// gitKind returns the kind of branches of repositories.
func gitKind() kind {
	return kind{
		settings: []string{"url", "username"}, scope: []string{"repository", "branch", "folder"}, slow: throttle.Standard,
		checkConnection: git.CheckConnection, checkScope: git.CheckScope, try: git.Try,
		follow:     func(f source.Follow, c *http.Client) (source.Source, error) { return git.New(f, c) },
		secretEnds: git.SecretEnds,
	}
}

// notionKind returns the kind of workspaces of Notion.
func notionKind() kind {
	return kind{
		settings: []string{"url"}, scope: []string{"page", "database"}, slow: throttle.Standard,
		checkConnection: notion.CheckConnection, checkScope: notion.CheckScope, try: notion.Try,
		follow: func(f source.Follow, c *http.Client) (source.Source, error) { return notion.New(f, c) },
	}
}

// imapKind returns the kind of mailboxes. They are no part of the web: Try and Follow open them
// themselves.
func imapKind() kind {
	return kind{
		settings: []string{"url", "username", "auth"}, scope: []string{"mailbox"}, checkConnection: imap.CheckConnection, checkScope: imap.CheckScope,
	}
}

// kindOf returns the kind of a type; there is false for a type that is none.
func (c *Connector) kindOf(t source.Type) (k kind, there bool) {
	switch t {
	case source.TypeWebDAV:
		return kind{
			settings: []string{"url", "username"}, scope: []string{"folder"}, mirrors: true, slow: throttle.Standard,
			checkConnection: webdav.CheckConnection, checkScope: webdav.CheckScope, try: webdav.Try,
			follow: func(f source.Follow, c *http.Client) (source.Source, error) { return webdav.New(f, c) },
		}, true
	case source.TypeDrive:
		return kind{
			settings: []string{"url", "subject"}, scope: []string{"drive", "folder"}, mirrors: true, slow: drive.Slow,
			checkConnection: drive.CheckConnection, checkScope: drive.CheckScope, try: drive.Try,
			follow:     func(f source.Follow, c *http.Client) (source.Source, error) { return drive.New(f, c) },
			secretEnds: drive.SecretEnds,
		}, true
	case source.TypeSharePoint:
		return kind{
			settings: []string{"url", "tenant", "client_id"}, scope: []string{"site", "drive", "folder"}, mirrors: true, slow: throttle.Standard,
			checkConnection: sharepoint.CheckConnection, checkScope: sharepoint.CheckScope, try: sharepoint.Try,
			follow:     func(f source.Follow, c *http.Client) (source.Source, error) { return sharepoint.New(f, c) },
			secretEnds: sharepoint.SecretEnds,
		}, true
	case source.TypeGit:
		return gitKind(), true
	case source.TypeIMAP:
		return imapKind(), true
	case source.TypeConfluence:
		return kind{
			settings: []string{"url", "username"}, scope: []string{"space"}, mirrors: true, slow: confluence.Slow,
			checkConnection: confluence.CheckConnection, checkScope: confluence.CheckScope, try: confluence.Try,
			follow: func(f source.Follow, c *http.Client) (source.Source, error) { return confluence.New(f, c) },
		}, true
	case source.TypeNotion:
		return notionKind(), true
	case source.TypeCrawl:
		return c.crawled(), true
	}
	return kind{}, false
}

// crawled is the kind of sites, whose requests wait at the pace of their host instead of a gate.
func (c *Connector) crawled() kind {
	return kind{
		settings: []string{"url"}, checkConnection: crawl.CheckConnection, checkScope: func(source.Follow) error { return nil },
		try:    func(ctx context.Context, f source.Follow, _ *http.Client) error { return crawl.Try(ctx, f, c.site) },
		follow: func(f source.Follow, _ *http.Client) (source.Source, error) { return crawl.Follow(f, c.site), nil },
	}
}

// followedTypes are the types of places that can be followed.
func followedTypes() []source.Type {
	return []source.Type{source.TypeWebDAV, source.TypeDrive, source.TypeSharePoint, source.TypeConfluence, source.TypeNotion, source.TypeGit, source.TypeIMAP, source.TypeCrawl}
}

// CheckConnection refuses the settings of a connection that no place can be opened with:
// CodeInvalid. It dials nothing.
func (c *Connector) CheckConnection(f source.Follow) error {
	k, ok := c.kindOf(f.Type)
	if !ok {
		return knowledge.Invalid("body.type", "is %q, which is none of %s", string(f.Type), typeNames())
	}
	if err := onlyFields(f.Options, k.settings, "body.options.", "is no option of the type "+string(f.Type)); err != nil {
		return err
	}
	return k.checkConnection(f)
}

// CheckScope refuses a scope that a type does not have, and rights that it cannot carry
// over: CodeInvalid. It dials nothing.
func (c *Connector) CheckScope(f source.Follow) error {
	k, ok := c.kindOf(f.Type)
	if !ok {
		return knowledge.Invalid("body.connection_id", "has a type that cannot be followed")
	}
	if err := onlyFields(f.Scope, k.scope, "body.scope.", "does not belong to the type "+string(f.Type)); err != nil {
		return err
	}
	if f.Mirror && !k.mirrors {
		return knowledge.Invalid("body.permissions", "cannot be mirror for the type %s, which tells nobody's rights: use none", string(f.Type))
	}
	return k.checkScope(f)
}

// Try asks a service whether it accepts the credentials of a connection. Its error tells
// the administrator what to change.
func (c *Connector) Try(ctx context.Context, f source.Follow, gate *throttle.Gate) error {
	k, ok := c.kindOf(f.Type)
	if !ok {
		return unknownType(f.Type)
	}
	if f.Type == source.TypeIMAP {
		return imap.Try(ctx, f, c.dial, gate, throttle.Client(c.client, gate, throttle.Standard))
	}
	return k.try(ctx, f, throttle.Client(c.client, gate, k.slow))
}

// SecretEnds returns when the secret of a connection expires, zero if that is not known.
func (c *Connector) SecretEnds(ctx context.Context, f source.Follow, gate *throttle.Gate) (time.Time, error) {
	k, ok := c.kindOf(f.Type)
	if !ok || k.secretEnds == nil {
		return time.Time{}, nil
	}
	return k.secretEnds(ctx, f, throttle.Client(c.client, gate, k.slow))
}

// Follow returns the source of a place, whose requests wait at the gate of its connection.
func (c *Connector) Follow(f source.Follow, gate *throttle.Gate) (source.Source, error) {
	k, ok := c.kindOf(f.Type)
	if !ok {
		return nil, unknownType(f.Type)
	}
	if f.Type == source.TypeIMAP {
		return imap.New(f, c.dial, gate, throttle.Client(c.client, gate, throttle.Standard)), nil
	}
	return k.follow(f, throttle.Client(c.client, gate, k.slow))
}

func typeNames() string {
	var names []string
	for _, t := range followedTypes() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// onlyFields refuses fields of a struct that are set and not accepted.
func onlyFields(value any, accepted []string, location, message string) error {
	var wrong []knowledge.Field
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !v.Field(i).IsZero() && !slices.Contains(accepted, name) {
			wrong = append(wrong, knowledge.Field{Location: location + name, Message: message})
		}
	}
	return knowledge.InvalidFields(wrong)
}
