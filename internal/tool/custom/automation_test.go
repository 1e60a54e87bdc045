package custom_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/tool/custom"
)

// secrets has the secret shop, which tools of acme may send to the hosts.
func secrets(hosts ...string) *credential.Book {
	return book(knowledge.Secret{Name: "shop", Workspace: "acme", Uses: []knowledge.SecretUse{knowledge.SecretInHeader}, Hosts: hosts})
}

// book has secrets with the value s3cret.
func book(configured ...knowledge.Secret) *credential.Book {
	return credential.New(credential.Config{
		Secrets: configured, Value: func(string) ([]byte, error) { return []byte("s3cret\n"), nil },
	}, nothingStored{}, nil)
}

type nothingStored struct{}

func (nothingStored) SecretOf(context.Context, string, string, string) (store.Secret, bool, error) {
	return store.Secret{}, false, nil
}

// question is a question to the project shop of acme.
func question() knowledge.Request {
	return knowledge.Request{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: "acme"}), Projects: []string{"shop"}}
}

// call calls a tool of a project that dials with a dialer.
func call(t *testing.T, dialer *safedial.Dialer, a knowledge.Automation, arguments string) (tool.Output, error) {
	t.Helper()
	source := custom.New(dialer.Client(custom.Limit), secrets("127.0.0.1"))
	r := question()
	r.Config.Tools.Custom = knowledge.CustomTools{"order": {Type: knowledge.ToolAutomation, Automation: &a}}
	set, err := source.Of(t.Context(), r)
	if err != nil || len(set) != 1 {
		t.Fatalf("the tools are %v, %v", set.Names(), err)
	}
	if repeats := a.Method == "GET"; set[0].Once == repeats {
		t.Errorf("%s is called once: %t", a.Method, set[0].Once)
	}
	return set[0].Run(t.Context(), tool.Call{RunRef: knowledge.RunRef{Run: "r"}, Turn: 2, Number: 1, Arguments: arguments})
}

func open() *safedial.Dialer {
	return safedial.New(safedial.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
}

func TestAutomation(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the other server has %q", r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.Error(w, "no such order", http.StatusNotFound)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 5<<20))
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG\xff\xfe"))
		case "/elsewhere":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s key=%s id=%s", r.Method, r.URL.RequestURI(), body, r.Header.Get("X-Api-Key"), r.Header.Get("Idempotency-Key"))
		}
	}))
	t.Cleanup(server.Close)
	key := map[string]string{"X-Api-Key": "secrets.shop"}
	for name, tc := range map[string]struct {
		automation knowledge.Automation
		arguments  string
		want       string
	}{
		"the arguments are the body":                   {knowledge.Automation{URL: "/orders", Headers: key}, `{"n":12345678901234567890}`, `POST /orders {"n":12345678901234567890} key=s3cret id=r-2-1`},
		"fixed fields win over arguments":              {knowledge.Automation{URL: "/orders", Body: map[string]any{"shop": 7}}, `{"shop":8,"n":1}`, `{"n":1,"shop":7}`},
		"a GET has them in its query":                  {knowledge.Automation{URL: "/orders?a=1", Method: "GET"}, `{"q":"a&b","n":2}`, "GET /orders?a=1&n=2&q=a%26b  key= id="},
		"an argument in the address is escaped":        {knowledge.Automation{URL: "/orders/{id}/x?y={z}", Method: "GET"}, `{"id":"../../admin?","z":"1&2"}`, "GET /orders/..%2F..%2Fadmin%3F/x?y=1%262 "},
		"a secret within a value":                      {knowledge.Automation{URL: "/", Headers: map[string]string{"X-Api-Key": "Bearer ${secrets.shop}"}}, `{}`, "key=Bearer s3cret "},
		"a status is told to the model":                {knowledge.Automation{URL: "/missing", Method: "GET"}, `{}`, "HTTP 404 Not Found\nno such order"},
		"a response that is no text":                   {knowledge.Automation{URL: "/picture", Method: "GET"}, `{}`, "not text"},
		"a redirect to another server is not followed": {knowledge.Automation{URL: "/elsewhere", Method: "GET", Headers: key}, `{}`, "HTTP 307"},
		"nor is one of a POST":                         {knowledge.Automation{URL: "/elsewhere", Headers: key}, `{}`, "HTTP 307"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.automation.URL = server.URL + tc.automation.URL
			output, err := call(t, open(), tc.automation, tc.arguments)
			if err != nil || !strings.Contains(output.Words, tc.want) {
				t.Errorf("the model reads %q, %v; want %q", output.Words, err, tc.want)
			}
		})
	}
	for path, want := range map[string]tool.Output{
		"/orders":  {Summary: "HTTP 200 OK, 21 bytes"},
		"/missing": {Summary: "HTTP 404 Not Found, 14 bytes", Failure: "the address answered HTTP 404 Not Found"},
		"/large":   {Summary: "HTTP 200 OK, 262.1 KB"},
	} {
		output, err := call(t, open(), knowledge.Automation{URL: server.URL + path, Method: "GET"}, `{}`)
		if err != nil || output.Summary != want.Summary || output.Failure != want.Failure {
			t.Errorf("%s: %q, %q, %v", path, output.Summary, output.Failure, err)
		}
	}
	t.Run("megabytes are not read", func(t *testing.T) {
		t.Parallel()
		output, err := call(t, open(), knowledge.Automation{URL: server.URL + "/large", Method: "GET"}, `{}`)
		if err != nil || len(output.Words) > 1<<20 || len(tool.CutWords(output.Words)) > tool.MaxWords+100 {
			t.Errorf("%d bytes, %v", len(output.Words), err)
		}
	})
	for _, arguments := range []string{`{}`, `{"id":".."}`, `{"id":""}`} {
		if _, err := call(t, open(), knowledge.Automation{URL: server.URL + "/{id}", Method: "GET"}, arguments); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

// inside resolves every name to a private address.
type inside struct{ address string }

func (i inside) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(i.address)}, nil
}

// refusedAddresses are addresses inside the machine or its network, as a user may
// write them.
var refusedAddresses = []string{
	"http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://0.0.0.0/", "http://[::]/", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/",
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
	"http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://127.0.0.1./", "http://user@127.0.0.1/",
	"http://metadata.test/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://100.64.0.1/", "http://168.63.129.16/",
}

func TestAutomationRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range refusedAddresses {
		for _, resolved := range []string{"127.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "10.1.2.3"} {
			dialer := safedial.New(safedial.Config{Resolver: inside{resolved}})
			output, err := call(t, dialer, knowledge.Automation{URL: address, Method: "GET"}, `{}`)
			if !knowledge.IsCode(err, knowledge.CodeInvalid) || output.Words != "" {
				t.Errorf("%s, resolved to %s: %q, %v", address, resolved, output.Words, err)
			}
		}
	}
}

func TestAutomationRefusesRedirectsInside(t *testing.T) {
	t.Parallel()
	reached := false
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(private.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(private.URL, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	output, err := call(t, open(), knowledge.Automation{URL: server.URL, Method: "GET"}, `{}`)
	if reached || err == nil && !strings.HasPrefix(output.Words, "HTTP 302") {
		t.Errorf("reached: %t, %q, %v", reached, output.Words, err)
	}
}

// TestSecretsStayWithTheirOwner calls tools that name secrets which they may not use.
func TestSecretsStayWithTheirOwner(t *testing.T) {
	t.Parallel()
	header := []knowledge.SecretUse{knowledge.SecretInHeader}
	here := []string{"127.0.0.1"}
	for name, c := range map[string]struct {
		secret knowledge.Secret
		sent   bool
	}{
		"its_own":             {knowledge.Secret{Workspace: "acme", Project: "shop", Uses: header, Hosts: here}, true},
		"its_workspaces":      {knowledge.Secret{Workspace: "acme", Uses: header, Hosts: here}, true},
		"another_projects":    {knowledge.Secret{Workspace: "acme", Project: "press", Uses: header, Hosts: here}, false},
		"another_workspaces":  {knowledge.Secret{Workspace: "other", Uses: header, Hosts: here}, false},
		"nobodys":             {knowledge.Secret{Uses: header, Hosts: here}, false},
		"for_imports_alone":   {knowledge.Secret{Workspace: "acme", Uses: []knowledge.SecretUse{knowledge.SecretInImport}, Hosts: here}, false},
		"without_a_use":       {knowledge.Secret{Workspace: "acme", Hosts: here}, false},
		"for_another_host":    {knowledge.Secret{Workspace: "acme", Uses: header, Hosts: []string{"api.example.com"}}, false},
		"without_a_host":      {knowledge.Secret{Workspace: "acme", Uses: header}, false},
		"that_does_not_exist": {knowledge.Secret{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var received atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				received.Add(1)
				fmt.Fprintf(w, "key=%s", r.Header.Get("X-Api-Key"))
			}))
			t.Cleanup(server.Close)
			r := question()
			headers := map[string]string{"X-Api-Key": "Bearer ${secrets.shop}"}
			r.Config.Tools.Custom = knowledge.CustomTools{
				"order":   {Type: knowledge.ToolAutomation, Automation: &knowledge.Automation{URL: server.URL, Method: "GET", Headers: headers}},
				"weather": {Type: knowledge.ToolMCP, MCP: &knowledge.MCP{URL: server.URL, Headers: headers}},
			}
			if c.sent {
				delete(r.Config.Tools.Custom, "weather")
			}
			c.secret.Name = "shop"
			set, err := custom.New(open().Client(custom.Limit), book(c.secret)).Of(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			order, _ := set.Find("order")
			output, err := order.Run(t.Context(), tool.Call{RunRef: knowledge.RunRef{Run: "r"}, Arguments: "{}"})
			if c.sent {
				if err != nil || !strings.Contains(output.Words, "key=Bearer s3cret") {
					t.Errorf("%q, %v", output.Words, err)
				}
				return
			}
			if n := received.Load(); n > 0 {
				t.Errorf("the server received %d requests", n)
			}
			missing := knowledge.MissingSecret("shop", knowledge.SecretNeed{Use: knowledge.SecretInHeader, Host: "127.0.0.1"})
			if err == nil || err.Error() != missing.Error() {
				t.Errorf("%q, %v, want the error of a missing name: %v", output.Words, err, missing)
			}
			if names := set.Names(); !slices.Contains(names, "weather") {
				t.Errorf("the tools are %v", names)
			}
		})
	}
}
