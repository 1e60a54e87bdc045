package sharepoint

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// graphVersion is the path of Graph's protocol.
const graphVersion = "/v1.0/"

// client speaks to Graph, and to SharePoint, as an application.
type client struct {
	http     *http.Client // follows redirects, and is given no token with them
	api      *http.Client // follows none
	resource string       // address of Graph
	login    string       // address of Entra
	tenant   string
	clientID string
	secret   secret

	mu     sync.Mutex
	tokens map[string]granted // by resource
}

// newClient returns a client of a connection.
func newClient(f source.Follow, httpClient *http.Client) (*client, error) {
	s, err := readSecret(f.Credentials)
	if err != nil {
		return nil, err
	}
	api := *httpClient
	api.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &client{
		http: httpClient, api: &api, tenant: f.Options.Tenant, clientID: f.Options.ClientID, secret: s, tokens: map[string]granted{},
	}
	c.resource, c.login = cloudOf(f.Options.URL)
	return c, nil
}

// cloudOf returns the addresses of Graph and of Entra. A service that is not Microsoft's has
// both at one address.
func cloudOf(address string) (graph, login string) {
	switch address = strings.TrimSuffix(address, "/"); address {
	case "", "https://graph.microsoft.com":
		return "https://graph.microsoft.com", "https://login.microsoftonline.com"
	case "https://graph.microsoft.us", "https://dod-graph.microsoft.us":
		return address, "https://login.microsoftonline.us"
	case "https://microsoftgraph.chinacloudapi.cn":
		return address, "https://login.chinacloudapi.cn"
	}
	return address, address
}

// get asks Graph for a path, and reads the answer into a value.
func (c *client) get(ctx context.Context, path string, header http.Header, into any) error {
	return c.getFrom(ctx, c.resource, c.resource+graphVersion+path, header, into)
}

// getFrom asks for an address of a resource, and reads the answer into a value.
func (c *client) getFrom(ctx context.Context, resource, address string, header http.Header, into any) error {
	return source.ReadJSON(ctx, func() (*http.Response, error) { return c.send(ctx, resource, address, header) }, c.refused, into)
}

// send sends a request with a token. A token that is refused is replaced once: it may have
// been withdrawn before its end.
func (c *client) send(ctx context.Context, resource, address string, header http.Header) (*http.Response, error) {
	for try := 0; ; try++ {
		token, err := c.bearer(ctx, resource)
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of Microsoft Graph is not valid").WithCause(err)
		}
		for name, values := range header {
			request.Header[name] = values
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := c.api.Do(request)
		if err != nil {
			return nil, source.FromExchange(err)
		}
		if answer.StatusCode != http.StatusUnauthorized || try > 0 {
			return answer, nil
		}
		_ = answer.Body.Close()
		c.forget(resource, token)
	}
}

// refused returns the error for an answer that is none.
func (c *client) refused(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusGone:
		return source.ErrExpired
	case http.StatusUnauthorized, http.StatusForbidden:
		return knowledge.Errorf(knowledge.CodeForbidden, "Microsoft 365 refused a request of the application %s. Send this to an administrator of Microsoft Entra: "+
			"please grant it the application permission Sites.Read.All of Microsoft Graph, or read on the site with Sites.Selected, with admin consent", c.clientID)
	case http.StatusNotFound:
		return knowledge.Errorf(knowledge.CodeNotFound, "Microsoft 365 does not show this to the application %s: check the scope of the sync", c.clientID)
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "resource", "of Microsoft 365")
}

// listing is one page of a list of Graph.
type listing[T any] struct {
	Value []T    `json:"value"`
	Next  string `json:"@odata.nextLink"`
	Delta string `json:"@odata.deltaLink"`
}

// relative returns a link of Graph without its address. A link to elsewhere is refused: it
// would be sent a token.
func (c *client) relative(link string) (string, error) {
	if link == "" {
		return "", nil
	}
	path, ours := strings.CutPrefix(link, c.resource+graphVersion)
	if !ours {
		return "", knowledge.Errorf(knowledge.CodeInvalid, "Microsoft Graph named a page at another address: check options.url of the connection")
	}
	return path, nil
}

// all returns all pages of a list. One of more than limit entries is CodeTooLarge.
func all[T any](ctx context.Context, c *client, path string, limit int) (list []T, err error) {
	for path != "" {
		var page listing[T]
		if err := c.get(ctx, path, nil, &page); err != nil {
			return nil, err
		}
		if list = append(list, page.Value...); len(list) > limit {
			return nil, knowledge.Errorf(knowledge.CodeTooLarge, "a list of Microsoft 365 has more than %d entries", limit)
		}
		if path, err = c.relative(page.Next); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// open opens the bytes of a file of a drive. Graph answers with an address that is signed for
// a while, and that gets no token. The caller closes the body.
func (c *client) open(ctx context.Context, path string) (*http.Response, *source.Body, error) {
	return source.OpenBody(ctx, func(ctx context.Context) (*http.Response, error) {
		answer, err := c.send(ctx, c.resource, c.resource+graphVersion+path, nil)
		if err != nil || answer.StatusCode != http.StatusFound {
			return answer, err
		}
		_ = answer.Body.Close()
		return c.download(ctx, answer)
	}, c.refused)
}

// download follows the redirect of an answer, without a token.
func (c *client) download(ctx context.Context, redirect *http.Response) (*http.Response, error) {
	to, err := redirect.Location()
	if err != nil {
		return nil, source.Unavailable(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, source.Unavailable(err)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		_ = answer.Body.Close()
		return nil, source.Unavailable(errSignature)
	}
	return answer, nil
}

func escape(segment string) string { return url.PathEscape(segment) }
