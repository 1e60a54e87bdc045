package e2e_test

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// inside are addresses that no user may reach, in all the forms in which they are written.
type inside struct {
	reached atomic.Int32      // connections to the listeners that most of them name
	forms   map[string]string // hosts with ports, by what they are
	outside *httptest.Server  // may be reached, and redirects to ?to=
	names   *resolver         // of names that resolve inside; nil = this system has none
}

// newInside listens on loopback. The outside has an address of its own there.
func newInside(t *testing.T) *inside {
	t.Helper()
	in := &inside{forms: map[string]string{}}
	v4, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(v4.Addr().(*net.TCPAddr).Port)
	listeners := []net.Listener{v4}
	if v6, err := net.Listen("tcp", "[::1]:"+port); err == nil { // not every machine has IPv6
		listeners = append(listeners, v6)
	}
	for _, l := range listeners {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				in.reached.Add(1)
				c.Close()
			}
		}()
	}
	for what, host := range map[string]string{
		"loopback": "127.0.0.1", "its name": "localhost", "its name in capitals": "LOCALHOST",
		"a decimal number": "2130706433", "a hexadecimal number": "0x7f000001", "octal": "0177.0.0.1", "hexadecimal parts": "0x7f.0.0.1",
		"short": "127.1", "a dot at the end": "127.0.0.1.", "IPv6": "[::1]", "IPv6 in full": "[0:0:0:0:0:0:0:1]",
		"mapped": "[::ffff:127.0.0.1]", "mapped hexadecimal": "[::ffff:7f00:1]", "IPv4 in IPv6": "[::127.0.0.1]", "unspecified": "0.0.0.0",
		"unspecified in IPv6": "[::]", "zero": "0",
		"private 10": "10.0.0.1", "private 172": "172.16.0.1", "private 192": "192.168.0.1", "carrier": "100.64.0.1",
		"metadata": "169.254.169.254", "metadata of IPv6": "[fd00:ec2::254]", "metadata mapped": "[::ffff:169.254.169.254]", "metadata by NAT64": "[64:ff9b::a9fe:a9fe]",
		"link-local": "[fe80::1]", "unique local": "[fd12::1]", "by 6to4": "[2002:7f00:1::1]",
	} {
		in.forms[what] = host + ":" + port
	}
	outside, err := net.Listen("tcp", "127.0.0.3:"+port) // the same port, for names that change their address
	if err != nil {
		t.Skipf("this machine has no second address of loopback: %v", err)
	}
	if in.names = newResolver(t); in.names != nil {
		for name := range in.names.names {
			in.forms["the name "+name] = strings.TrimSuffix(name, ".") + ":" + port
		}
		in.forms["the name with a dot at the end"] = "loopback.inside.test.:" + port
	}
	in.outside = &httptest.Server{Listener: outside, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that a name is resolved again
		if in.answer(w, r) {
			return
		}
		to := cmp.Or(r.URL.Query().Get("to"), "http://"+in.forms["loopback"]+"/")
		if strings.HasPrefix(r.Host, "rebinding") {
			to = "http://" + r.Host + "/latest/meta-data"
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})}}
	in.outside.Start()
	t.Cleanup(in.outside.Close)
	return in
}

// start starts a server that asks the resolver of names inside, if there is one.
func (in *inside) start(t *testing.T, env ...string) *server {
	t.Helper()
	program := binary
	if in.names != nil {
		program = in.names.program
	}
	return startProgram(t, program, filepath.Join(t.TempDir(), "data folder"), env...)
}

// addresses returns the forms as addresses, and as redirects to them.
func (in *inside) addresses() map[string]string {
	all := map[string]string{}
	for what, host := range in.forms {
		address := "http://" + host + "/latest/meta-data"
		all[what] = address
		all["redirect to "+what] = in.outside.URL + "/?to=" + url.QueryEscape(address)
	}
	return all
}

// some returns a few of the addresses, for what takes long.
func (in *inside) some() []string {
	all := in.addresses()
	list := []string{all["loopback"], all["its name"], all["a decimal number"], all["mapped"], all["redirect to loopback"]}
	if in.names != nil {
		list = append(list, all["the name private.inside.test."], all["redirect to the name metadata.inside.test."])
	}
	return list
}

// endpoints returns a few of the addresses as endpoints of buckets.
func (in *inside) endpoints() []string {
	var list []string
	for _, what := range []string{"loopback", "its name", "a decimal number", "mapped"} {
		list = append(list, "http://"+in.forms[what])
	}
	if in.names != nil {
		list = append(list, "http://"+in.forms["the name loopback.inside.test."])
	}
	return append(list, in.outside.URL)
}

// TestAddressesInside sends addresses inside the network in every request that takes an
// address. The server reaches none.
func TestAddressesInside(t *testing.T) {
	t.Parallel()
	in := newInside(t)
	engine := newSearchEngine(t)
	m := standIn(t, modeltest.Options{Tokens: 3})
	s := in.start(t, at(m.URL(), append(engine.at(), "CAIRN_EGRESS__ALLOW=127.0.0.3/32")...)...)

	for way, give := range map[string]func(t *testing.T){
		"a document by its address": func(t *testing.T) {
			each(t, in.addresses(), func(what, address string) error {
				var d client.Document
				body := map[string]any{"externalId": what, "content": map[string]string{"url": address}}
				if status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", body, &d); status < 300 && d.Status != "error" {
					return fmt.Errorf("status %d, document %s", status, d.Status)
				}
				return nil
			})
		},
		"a list of addresses": func(t *testing.T) {
			var list strings.Builder
			for _, address := range in.some() {
				list.WriteString(address + "\n")
			}
			i := s.runImport(t, client.NewImport{Source: client.ImportSource{Type: "url_list", URI: list.String()}})
			if i.Published != 0 || i.Failed != int64(len(in.some())) {
				t.Errorf("%+v", countsOf(i))
			}
		},
		"a site": func(t *testing.T) {
			s.importsFail(t, in.some(), func(address string) client.ImportSource { return client.ImportSource{Type: "crawl", URI: address} })
		},
		"the endpoint of an S3 bucket": func(t *testing.T) {
			s.importsFail(t, in.endpoints(), func(address string) client.ImportSource {
				return client.ImportSource{Type: "s3", URI: "s3://shelf/", Options: map[string]any{"endpoint": address, "path_style": true, "anonymous": true}}
			})
		},
		"the endpoint of an Azure container": func(t *testing.T) {
			s.importsFail(t, in.endpoints(), func(address string) client.ImportSource {
				return client.ImportSource{Type: "azure", URI: "azblob://account/shelf/", Options: map[string]any{"endpoint": address, "anonymous": true}}
			})
		},
		"the endpoint of a GCS bucket": func(t *testing.T) {
			s.importsFail(t, in.endpoints(), func(address string) client.ImportSource {
				return client.ImportSource{Type: "gcs", URI: "gs://shelf/", Options: map[string]any{"endpoint": address, "anonymous": true}}
			})
		},
		"the callback of a question": func(t *testing.T) {
			each(t, in.addresses(), func(_, address string) error {
				s.call(t, "POST", webhooks+"/query", map[string]any{"text": "Why?", "projectId": "default", "callback": map[string]any{"url": address}}, nil)
				return nil // what is delivered later, the listeners see
			})
		},
		"an attachment of a question by its address": func(t *testing.T) {
			ask := func(attachments ...any) {
				s.call(t, "POST", webhooks+"/query", map[string]any{"text": "Why?", "projectId": "default", "attachments": attachments}, nil)
			}
			var redirects []any // which are accepted, and fetched later
			for what, address := range in.addresses() {
				if strings.HasPrefix(what, "redirect") {
					redirects = append(redirects, address)
					continue
				}
				ask(address)
			}
			ask(map[string]any{"name": "by its content", "content": map[string]any{"url": in.addresses()["its name"]}})
			for some := range slices.Chunk(redirects, 10) {
				ask(some...)
			}
		},
		"the address of a zip": func(t *testing.T) {
			s.importsFail(t, in.some(), func(address string) client.ImportSource { return client.ImportSource{Type: "zip", URI: address} })
		},
		"a site that links inside":              func(t *testing.T) { in.crawlLinks(t, s) },
		"links in documents":                    func(t *testing.T) { in.uploadLinks(t, s) },
		"files and pictures of a response":      func(t *testing.T) { in.respond(t, s) },
		"a picture of a chat completion":        func(t *testing.T) { in.complete(t, s) },
		"a page that a search of the web finds": func(t *testing.T) { in.search(t, s, engine) },
	} {
		t.Run(way, func(t *testing.T) {
			give(t)
		})
	}
	t.Cleanup(func() { // after the parallel subtests
		if in.names != nil && in.names.asked.Load() < 2 {
			t.Error("the name that changes its address was not resolved twice")
		}
		if n := in.reached.Load(); n > 0 {
			t.Errorf("addresses inside were reached %d times", n)
		}
	})
}

// TestToolsAndWebhooksInside is TestAddressesInside for the settings of a project, which are
// given one after the other.
func TestToolsAndWebhooksInside(t *testing.T) {
	t.Parallel()
	in := newInside(t)
	m := standIn(t, modeltest.Options{Tokens: 3})
	s := in.start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.3/32")...)
	const project = "/workspaces/default/projects/default"
	for what, address := range in.addresses() {
		hook := map[string]any{"url": address, "types": []string{"queries", "documents_created"}}
		custom := map[string]any{
			"automation": map[string]any{"type": "automation", "automation": map[string]any{"url": address, "method": "GET"}},
			"server":     map[string]any{"type": "mcp", "mcp": map[string]any{"url": address, "tools": []map[string]any{{"name": "look"}}}},
		}
		saved := false
		for setting, change := range map[string]any{
			"webhook": map[string]any{"webhooks": []any{hook}}, "automation": map[string]any{"tools": map[string]any{"custom": map[string]any{"automation": custom["automation"], "server": nil}}},
			"mcp": map[string]any{"tools": map[string]any{"custom": map[string]any{"server": custom["server"]}}},
		} {
			status := s.call(t, "PATCH", project, change, nil)
			named := strings.HasPrefix(what, "redirect") || strings.Contains(what, "name") // known when it is dialled
			if status != http.StatusUnprocessableEntity && !named {
				t.Errorf("%s as %s: status %d", what, setting, status)
			}
			saved = saved || status == http.StatusOK
		}
		if !saved {
			continue
		}
		call := func(name string) model.ToolCall {
			return model.ToolCall{ID: name, Name: name, Arguments: "{}"}
		}
		m.ScriptChat(modeltest.Call(call("automation"), call("server_look")), modeltest.Text("Done."))
		s.call(t, "POST", webhooks+"/query", map[string]any{"text": "Why?", "projectId": "default"}, nil)
		s.upload(t, "told", "A note about "+what)
	}
	in.sendMCPInside(t, s, m)
	if n := in.reached.Load(); n > 0 {
		t.Errorf("addresses inside were reached %d times", n)
	}
}

// each calls give for every address, some at a time.
func each(t *testing.T, addresses map[string]string, give func(what, address string) error) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for what, address := range addresses {
		group.Go(func() error {
			if err := give(what, address); err != nil {
				t.Errorf("%s (%s): %v", what, address, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are the test's
}

// importsFail starts imports whose sources have these addresses, and checks that each fails.
func (s *server) importsFail(t *testing.T, addresses []string, source func(address string) client.ImportSource) {
	t.Helper()
	for _, address := range addresses {
		i, err := s.StartImport(t.Context(), client.NewImport{Project: "default", Source: source(address)})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		i = s.awaitImport(t, i.ID)
		redirects := strings.HasPrefix(address, "http://127.0.0.3") // which clients of buckets do not follow
		if i.Status != "failed" || i.Error == nil || !redirects && !strings.Contains(i.Error.Message, "refused address") {
			t.Errorf("%s: the import is %s with %+v, %+v", address, i.Status, countsOf(i), i.Error)
		}
	}
}

// search has a search of the web find all addresses, and scrape them.
func (in *inside) search(t *testing.T, s *server, engine *searchEngine) {
	var results []map[string]any
	for what, address := range in.addresses() {
		results = append(results, map[string]any{"title": what, "url": address, "content": "A snippet"})
	}
	engine.set(results...)
	scrape := map[string]any{"tools": map[string]any{"web_search": map[string]any{"scrape": true}}}
	s.call(t, "POST", "/tools/web_search", map[string]any{"query": "all", "project_id": "default", "projectConfigOverride": scrape}, nil)
	s.call(t, "PATCH", "/workspaces/default/projects/default", scrape, nil)
	s.call(t, "POST", "/tools/web_search", map[string]any{"query": "all", "project_id": "default"}, nil)
}
