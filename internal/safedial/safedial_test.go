package safedial_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// names resolves names from a table.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, text := range n[host] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// site returns a server on loopback that answers with the path of the request.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page ", r.URL.Path) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusFound)
	})
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(r.PathValue("n")); n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), http.StatusFound)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func get(t *testing.T, d *safedial.Dialer, address string) (string, error) {
	t.Helper()
	r, err := d.Client(5 * time.Second).Get(address)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), nil
}

func wantRefused(t *testing.T, err error, secret string) {
	t.Helper()
	e, ok := errors.AsType[*knowledge.Error](err)
	if !ok || e.Code != knowledge.CodeInvalid {
		t.Fatalf("got error %v, want invalid", err)
	}
	if secret != "" && (strings.Contains(e.Message, secret) || strings.Contains(e.Error(), secret)) {
		t.Errorf("error %q contains the address", e)
	}
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	server := site(t)
	at := ":" + port(t, server.URL)
	table := names{
		"inside.example": {"127.0.0.1"}, "mapped.example": {"::ffff:127.0.0.1"}, "localhost": {"127.0.0.1", "::1"},
		"mixed.example": {"10.0.0.1", "127.0.0.1"},
	}
	hosts := []string{"127.0.0.1", "inside.example", "mapped.example", "localhost", "[::ffff:127.0.0.1]", "mixed.example"}

	t.Run("is_refused", func(t *testing.T) {
		t.Parallel()
		d := safedial.New(safedial.Config{Resolver: table})
		for _, host := range hosts {
			_, err := get(t, d, "http://"+host+at+"/x")
			secret := "127.0.0.1"
			if strings.Contains(host, secret) {
				secret = ""
			}
			wantRefused(t, err, secret)
		}
	})
	t.Run("is_reached_when_an_operator_allows_it", func(t *testing.T) {
		t.Parallel()
		d := safedial.New(safedial.Config{Resolver: table, Allow: prefixes("127.0.0.0/8")})
		for _, host := range hosts {
			if got, err := get(t, d, "http://"+host+at+"/x"); err != nil || got != "page /x" {
				t.Errorf("%s: got %q, %v", host, got, err)
			}
		}
	})
	t.Run("own_listeners_are_refused_whatever_is_allowed", func(t *testing.T) {
		t.Parallel()
		own := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
		for _, listener := range []netip.AddrPort{own, netip.AddrPortFrom(netip.IPv4Unspecified(), own.Port()), netip.AddrPortFrom(netip.IPv6Unspecified(), own.Port())} {
			d := safedial.New(safedial.Config{Resolver: table, Allow: prefixes("0.0.0.0/0", "::/0"), Refuse: []netip.AddrPort{listener}})
			for _, host := range hosts {
				if host == "mixed.example" {
					continue // dialling 10.0.0.1 would block
				}
				_, err := get(t, d, "http://"+host+at+"/x")
				wantRefused(t, err, "")
			}
			other := site(t)
			if _, err := get(t, d, other.URL+"/x"); err != nil {
				t.Errorf("another port of the same address: %v", err)
			}
		}
	})
	t.Run("denied_ranges_are_refused_whatever_is_allowed", func(t *testing.T) {
		t.Parallel()
		d := safedial.New(safedial.Config{Resolver: table, Allow: prefixes("0.0.0.0/0", "::/0"), Deny: prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8")})
		for _, host := range hosts {
			_, err := get(t, d, "http://"+host+at+"/x")
			wantRefused(t, err, "")
		}
		wantRefused(t, d.CheckURL("http://127.0.0.1/"), "")
	})
	t.Run("numbers_that_mean_loopback_are_refused", func(t *testing.T) {
		t.Parallel()
		d := safedial.New(safedial.Config{Allow: prefixes("127.0.0.0/8"), Resolver: names{
			"2130706433": {"127.0.0.1"}, "0177.0.0.1": {"127.0.0.1"}, "0x7f.1": {"127.0.0.1"}, "127.1": {"127.0.0.1"}, "0x7f000001": {"127.0.0.1"},
		}})
		for _, host := range []string{"2130706433", "0177.0.0.1", "0x7f.1", "127.1", "0x7f000001", "127.0.0.1."} {
			_, err := get(t, d, "http://"+host+at+"/x")
			wantRefused(t, err, "")
		}
	})
}

func TestNamedServices(t *testing.T) {
	t.Parallel()
	server := site(t)
	own := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	d := safedial.New(safedial.Config{Allow: prefixes("127.0.0.1/32"), Named: []netip.AddrPort{own}})
	if got, err := get(t, d, server.URL+"/x"); err != nil || got != "page /x" {
		t.Errorf("a service that is allowed: got %q, %v", got, err)
	}
	const public = "https://bucket.example:9000/shelf"
	resolver := names{"bucket.example": {"93.184.215.14"}}
	named := []netip.AddrPort{netip.MustParseAddrPort("93.184.215.14:9000")}
	wantRefused(t, safedial.New(safedial.Config{Resolver: resolver, Named: named}).CheckResolved(t.Context(), public), "93.184.215.14")
	if err := safedial.New(safedial.Config{Resolver: resolver}).CheckResolved(t.Context(), public); err != nil {
		t.Errorf("an address that nobody named: %v", err)
	}
	if err := safedial.New(safedial.Config{Resolver: resolver, Named: named, Allow: prefixes("93.184.215.14/32")}).CheckResolved(t.Context(), public); err != nil {
		t.Errorf("a public service that is allowed: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	server := site(t)
	at := ":" + port(t, server.URL)
	d := safedial.New(safedial.Config{
		Allow:    prefixes("127.0.0.1/32"),
		Resolver: names{"good.example": {"127.0.0.1"}, "bad.example": {"127.0.0.2"}, "cloud.example": {"169.254.169.254"}},
	})
	if got, err := get(t, d, "http://good.example"+at+"/to?url=http://127.0.0.1"+at+"/y"); err != nil || got != "page /y" {
		t.Errorf("a redirect that is allowed: got %q, %v", got, err)
	}
	for _, target := range []string{
		"http://bad.example" + at + "/", "http://127.0.0.2" + at + "/", "http://cloud.example/latest/meta-data/",
		"http://169.254.169.254/", "ftp://good.example/", "file:///etc/passwd", "gopher://good.example" + at + "/", "http://u:p@good.example" + at + "/",
	} {
		_, err := get(t, d, server.URL+"/to?url="+target)
		wantRefused(t, err, "169.254.169.254")
	}
	if _, err := get(t, d, server.URL+"/hop/5"); err != nil {
		t.Errorf("five redirects: %v", err)
	}
	_, err := get(t, d, server.URL+"/hop/6")
	wantRefused(t, err, "")
}

func TestRanges(t *testing.T) {
	t.Parallel()
	d := safedial.New(safedial.Config{})
	for _, ip := range []string{
		"0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255", "168.63.129.16",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "224.0.0.1",
		"255.255.255.255", "::", "::1", "::7f00:1", "::ffff:10.0.0.1", "::ffff:0:7f00:1", "64:ff9b::7f00:1",
		"64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "100::1",
	} {
		address := "http://" + net.JoinHostPort(ip, "80") + "/"
		wantRefused(t, d.CheckURL(address), "")
		_, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(ip, "80"))
		wantRefused(t, err, "")
	}
	for _, ip := range []string{"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"} {
		if err := d.CheckURL("https://" + net.JoinHostPort(ip, "443") + "/"); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
	for _, address := range []string{"", "example.com", "http://", "ftp://example.com", "javascript:alert(1)", "http://[fe80::1%25eth0]/", "http://user@example.com/", "http://a b/", "//example.com"} {
		if err := d.CheckURL(address); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
	if err := d.CheckURL("http://example.com:8080/x?y"); err != nil {
		t.Error(err)
	}
	allowed := safedial.New(safedial.Config{Allow: prefixes("::ffff:10.0.0.0/104", "0.0.0.0/0")})
	if err := allowed.CheckURL("http://10.1.2.3/"); err != nil {
		t.Errorf("an allowed range in mapped form: %v", err)
	}
	wantRefused(t, allowed.CheckURL("http://0.0.0.0/"), "")
}

func TestOtherFailuresAreNotRefusals(t *testing.T) {
	t.Parallel()
	closed := site(t)
	at := ":" + port(t, closed.URL)
	closed.Close()
	d := safedial.New(safedial.Config{Allow: prefixes("127.0.0.0/8"), Resolver: names{}})
	for _, address := range []string{"http://nowhere.example/", "http://127.0.0.1" + at + "/"} {
		_, err := get(t, d, address)
		if _, ok := errors.AsType[*knowledge.Error](err); err == nil || ok {
			t.Errorf("%s: got error %v, want one that is not a refusal", address, err)
		}
	}
	if _, err := d.DialContext(t.Context(), "udp", "127.0.0.1:53"); err == nil {
		t.Error("udp was dialed")
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxied := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { proxied <- r.URL.String() }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	server := site(t)
	d := safedial.New(safedial.Config{Allow: prefixes("127.0.0.1/32"), Resolver: names{"good.example": {"127.0.0.1"}}})
	if got, err := get(t, d, "http://good.example:"+port(t, server.URL)+"/x"); err != nil || got != "page /x" {
		t.Errorf("got %q, %v", got, err)
	}
	select {
	case address := <-proxied:
		t.Errorf("the proxy was asked for %s", address)
	default:
	}
}

func TestTheCheckedAddressIsDialled(t *testing.T) {
	t.Parallel()
	server := site(t)
	first := true
	d := safedial.New(safedial.Config{Allow: prefixes("127.0.0.1/32"), Resolver: resolverFunc(func() string {
		if first {
			first = false
			return "127.0.0.1"
		}
		return "127.0.0.2" // the second answer of a rebinding server
	})})
	if got, err := get(t, d, "http://turn.example:"+port(t, server.URL)+"/x"); err != nil || got != "page /x" {
		t.Errorf("got %q, %v", got, err)
	}
}

type resolverFunc func() string

func (f resolverFunc) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(f())}, nil
}
