package sharepoint

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Source is a place of SharePoint or OneDrive. It implements source.Source and
// source.Directory.
type Source struct {
	client *client
	follow source.Follow
	size   int

	together int // requests for rights at a time
}

// CheckConnection refuses settings and secrets that no application can sign in with.
func CheckConnection(f source.Follow) error {
	if u, err := url.Parse(f.Options.URL); f.Options.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "") {
		return knowledge.Invalid("body.options.url", "must be the http or https address of Microsoft Graph, such as https://graph.microsoft.us; leave it out for the public cloud")
	}
	for name, value := range map[string]string{"tenant": f.Options.Tenant, "client_id": f.Options.ClientID} {
		if value == "" || strings.ContainsAny(value, "/?# \\") {
			return knowledge.Invalid("body.options."+name, "must be set, as the page of the application in Microsoft Entra shows it")
		}
	}
	_, err := readSecret(f.Credentials)
	return err
}

// CheckScope refuses a scope that names no place.
func CheckScope(f source.Follow) error {
	s := f.Scope
	if s.Site == "" && s.Drive == "" {
		return knowledge.Invalid("body.scope", "must name a site by its address, or a drive by its id or by the address of the person whose files it has")
	}
	if u, err := url.Parse(s.Site); s.Site != "" && (err != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "" && strings.ContainsAny(s.Site, "/?#\\")) {
		return knowledge.Invalid("body.scope.site", "must be the address of a site, such as https://contoso.sharepoint.com/sites/legal")
	}
	if strings.ContainsAny(s.Drive, "/?#\\") {
		return knowledge.Invalid("body.scope.drive", "must be the id of a drive, the name of a library of the site, or the address of a person such as ann@contoso.com")
	}
	for part := range strings.SplitSeq(strings.Trim(s.Folder, "/"), "/") {
		if part == ".." || part == "." {
			return knowledge.Invalid("body.scope.folder", "must be a path below the library, such as Contracts/2026")
		}
	}
	return nil
}

// New returns the source of a place. client must be one that may reach addresses which users
// give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	c, err := newClient(f, httpClient)
	if err != nil {
		return nil, err
	}
	size := f.PageSize
	if size == 0 {
		size = pageSize
	}
	return &Source{client: c, follow: f, size: min(size, pageSize), together: together}, nil
}

// Try reports whether Entra accepts the application, and whether it may read files.
func Try(ctx context.Context, f source.Follow, httpClient *http.Client) error {
	c, err := newClient(f, httpClient)
	if err != nil {
		return err
	}
	return c.mayRead(ctx)
}

// mayRead refuses an application that may read no files.
func (c *client) mayRead(ctx context.Context) error {
	return c.require(ctx, "read files", readingRoles())
}
