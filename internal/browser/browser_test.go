package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// The test binary is also the first program in the network of its Chromium, and a worker
// that a test can kill.
const (
	launcherArg = "be-the-launcher"
	workerArg   = "be-a-worker"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launcherArg {
		fmt.Fprintln(os.Stderr, browser.Launch(os.Args[2:]))
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[1] == workerArg {
		beWorker(os.Args[2])
	}
	os.Exit(m.Run())
}

func config(dialer *safedial.Dialer) browser.Config {
	return browser.Config{Launcher: []string{os.Args[0], launcherArg}, Dialer: dialer, Agent: "cairn"}
}

// open returns a browser that ends with the test.
func open(t *testing.T, cfg browser.Config) *browser.Browser {
	t.Helper()
	if err := browser.Available(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	b := browser.New(cfg)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// inside reaches the sites of a test, which are on this machine.
func inside() *safedial.Dialer {
	return safedial.New(safedial.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

func anywhere(*url.URL) error { return nil }

// render returns what the scripts of a page made of it. The machine may be loaded.
func render(t *testing.T, b *browser.Browser, address string, mayOpen func(*url.URL) error) (browser.Document, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return b.Render(ctx, address, mayOpen)
}

// site serves pages by their paths.
func site(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if to, ok := strings.CutPrefix(page, "-> "); ok {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, page)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRender(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{
		"/data":    `{"text": "Words of the Größe"}`,
		"/fetched": `<div id=app></div><script>fetch("/data").then(r => r.json()).then(d => { app.textContent = d.text })</script>`,
		"/written": `<script>alert("wait"); document.body.innerHTML = "<p>written by a script</p>"</script>`,
		"/moved":   "-> /written",
		"/leads":   `<script>location = "/written"</script>`,
		"/away":    `<script>location = "/private"</script><p>public</p>`,
		"/private": "private",
		"/pushed":  `<script>history.pushState({}, "", "/private")</script><p>public</p>`,
		"/lies":    `<script>Object.defineProperty(Element.prototype, "outerHTML", {get: () => "a lie"})</script><p>the truth</p>`,
		"/spins":   `<p>soon</p><script>while (true);</script>`,
		"/asks":    `<p>polls</p><script>setInterval(() => fetch("/data"), 100)</script>`,
		"/large":   `<body><script>document.body.textContent = "x".repeat(11 << 20)</script>`,
		"/opens":   `<p>opens</p><script>window.open("/private")</script>`,
	})
	cfg := config(inside())
	cfg.Memory = 4 << 30 // one page must not end the others
	b := open(t, cfg)
	errPrivate := errors.New("private")
	mayOpen := func(u *url.URL) error {
		if u.Path == "/private" {
			return errPrivate
		}
		return nil
	}
	for path, want := range map[string]string{
		"/fetched": "Words of the Größe", "/written": "written by a script", "/moved": "written by a script", "/leads": "written by a script",
		"/lies": "the truth", "/asks": "polls", "/opens": "opens",
	} {
		t.Run("reads_"+path[1:], func(t *testing.T) {
			t.Parallel()
			got, err := render(t, b, s.URL+path, mayOpen)
			if err != nil || !strings.Contains(got.HTML, want) {
				t.Errorf("%v of %+v", err, got)
			}
			if path == "/moved" && got.URL != s.URL+"/written" {
				t.Errorf("it is at %s", got.URL)
			}
		})
	}
	for path, want := range map[string]error{"/away": errPrivate, "/pushed": errPrivate, "/private": errPrivate, "/large": nil, "/spins": nil} {
		t.Run("refuses_"+path[1:], func(t *testing.T) {
			t.Parallel()
			if got, err := render(t, b, s.URL+path, mayOpen); err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%v of %+v", err, got)
			}
		})
	}
}

// spy is a server inside that nobody may reach.
func spy(t *testing.T) (port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was requested", r.Host, r.URL)
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// names resolves every name inside.
type names struct{ public netip.Addr }

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "site.example" {
		return []netip.Addr{n.public}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// renderUntil renders a page again while it cannot be read, or lacks a mark, which its scripts
// write at their end: on a busy machine the browser reads it before. It returns what is behind
// the mark.
func renderUntil(t *testing.T, b *browser.Browser, address, mark string) string {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		got, err := render(t, b, address, anywhere)
		if _, behind, ok := strings.Cut(got.HTML, mark); ok {
			return behind
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v; the page has no %q but %s", err, mark, got.HTML)
		}
	}
}

// attempts are ways of a script to reach an address. Each ends by itself.
const attempts = `
fetch("/wait" + location.pathname); // the page is not quiet before all have ended
const tried = [];
const attempt = (name, how) => tried.push(Promise.race([
	Promise.resolve().then(how).then(x => name + " worked: " + x, e => name + " failed"),
	new Promise(r => setTimeout(() => r(name + " hangs"), 2500))]));
const element = (tag, set) => new Promise((ok, fail) => {
	const e = document.createElement(tag);
	e.onload = () => { try { ok(e.contentDocument ? "a blank frame" : "loaded") } catch (x) { ok("another origin") } };
	e.onerror = fail;
	set(e);
	document.body.append(e);
});
for (const host of HOSTS) for (const scheme of ["http", "https"]) {
	const url = scheme + "://" + host + "/" + scheme;
	attempt("fetch", () => fetch(url, {mode: "no-cors"}));
	attempt("beacon", () => { navigator.sendBeacon(url, "x"); throw 0 });
	attempt("xhr", () => new Promise((ok, fail) => { const x = new XMLHttpRequest(); x.onload = ok; x.onerror = fail; x.open("POST", url); x.send() }));
	attempt("script", () => element("script", e => e.src = url));
	attempt("img", () => element("img", e => e.src = url));
	attempt("css", () => element("link", e => { e.rel = "stylesheet"; e.href = url }));
	attempt("frame", () => { element("iframe", e => e.src = url); throw 0 });
	attempt("events", () => new Promise((ok, fail) => { const s = new EventSource(url); s.onopen = ok; s.onerror = fail }));
	attempt("socket", () => new Promise((ok, fail) => { const s = new WebSocket(url.replace("http", "ws")); s.onopen = ok; s.onerror = fail }));
	attempt("redirect", () => fetch("/to?" + encodeURIComponent(url)));
	attempt("worker", () => new Promise((ok, fail) => {
		const w = new Worker(URL.createObjectURL(new Blob(["fetch('" + url + "', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(0))"])));
		w.onmessage = e => e.data ? ok() : fail();
	}));
	attempt("form", () => { const f = document.createElement("form"); f.action = url; f.method = "post"; f.target = "frame"; document.body.append(f); f.submit(); throw 0 });
	attempt("prefetch", () => { for (const rel of ["prefetch", "preconnect", "dns-prefetch", "prerender", "modulepreload"]) element("link", e => { e.rel = rel; e.href = url }); throw 0 });
	attempt("popup", () => { window.open(url); throw 0 });
}
for (const file of ["file:///etc/passwd", "file:///", "chrome://version", "view-source:file:///etc/passwd", "ftp://127.0.0.1/", "filesystem:http://127.0.0.1/temporary/x"]) {
	attempt("fetch " + file, () => fetch(file));
	attempt("frame " + file, () => element("iframe", e => e.src = file).then(() => { throw 0 }));
	attempt("popup " + file, () => { window.open(file); throw 0 });
}
attempt("service worker", async () => { await navigator.serviceWorker.register("/sw.js"); throw 0 });
attempt("transport", () => new WebTransport("https://" + HOSTS[0] + "/").ready);
attempt("rtc", () => new Promise(async (ok, fail) => {
	const c = new RTCPeerConnection({iceServers: [{urls: ["stun:STUN", "turn:STUN?transport=udp"], username: "a", credential: "b"}, {urls: "turn:STUN?transport=tcp", username: "a", credential: "b"}]});
	c.onicecandidate = e => { if (!e.candidate) fail(); };
	c.createDataChannel("x");
	await c.setLocalDescription(await c.createOffer());
}));
Promise.all(tried).then(all => { const p = document.createElement("pre"); p.textContent = "TRIED " + all.length + "\n" + all.join("\n"); document.body.replaceChildren(p); fetch("/done" + location.pathname); });
`

// TestScriptsReachNothingInside lets a page try every way out that scripts have to every
// form of an address inside. None gets there: neither a server nor a UDP port hears
// anything.
func TestScriptsReachNothingInside(t *testing.T) {
	t.Parallel()
	port := spy(t)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var heard sync.WaitGroup
	heard.Go(func() {
		if n, from, err := udp.ReadFrom(make([]byte, 100)); err == nil {
			t.Errorf("%d bytes came from %s", n, from)
		}
	})
	t.Cleanup(func() { _ = udp.Close(); heard.Wait() })
	hosts := []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "10.0.0.1",
		"169.254.169.254", "[fd00::1]", "[fe80::1]", "inside.example", "LOCALHOST.",
	}
	script := func(hosts []string) string {
		quoted := []string{}
		for _, host := range hosts {
			quoted = append(quoted, fmt.Sprintf("%q", host+":"+port))
		}
		return strings.NewReplacer("HOSTS", "["+strings.Join(quoted, ",")+"]", "STUN", udp.LocalAddr().String()).Replace(attempts)
	}
	// A page for each form of an address: on a busy machine more do not end in the time of a page.
	pages := slices.Collect(slices.Chunk(hosts, 1))
	ended := make([]chan struct{}, len(pages))
	for page := range ended {
		ended[page] = make(chan struct{}, 1)
	}
	// The page itself must be reached, so it is at an address of this machine that the
	// test calls public, and none of those above.
	listener, err := net.Listen("tcp", "127.0.0.77:0")
	if err != nil {
		t.Skip("this machine has one loopback address only:", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/to":
			to, err := url.QueryUnescape(r.URL.RawQuery)
			if err != nil {
				t.Error(err)
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintf(w, `fetch("http://127.0.0.1:%s/sw", {mode: "no-cors"})`, port)
		default:
			what, number := path.Split(r.URL.Path)
			page, err := strconv.Atoi(number)
			switch {
			case err != nil:
				http.NotFound(w, r) // what the browser asks for by itself
				return
			case what == "/wait/":
				select {
				case <-ended[page]:
				case <-r.Context().Done():
				}
				return
			case what == "/done/":
				select {
				case ended[page] <- struct{}{}:
				default: // a page that was opened again
				}
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<body><iframe name=frame></iframe><script>%s</script>", script(pages[page]))
		}
	}))
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	own := netip.MustParsePrefix("127.0.0.77/32")
	cfg := config(safedial.New(safedial.Config{Allow: []netip.Prefix{own}, Resolver: names{own.Addr()}}))
	cfg.Memory = 4 << 30 // frames and windows to many addresses
	b := open(t, cfg)
	_, sitePort, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for page := range pages {
		report := renderUntil(t, b, fmt.Sprintf("http://site.example:%s/%d", sitePort, page), "TRIED ")
		if strings.Contains(report, "worked") {
			t.Errorf("the page saw %s", report)
		}
	}
	for _, address := range []string{"file:///etc/passwd", "http://127.0.0.1:" + port, "http://inside.example:" + port, "chrome://version", "data:text/html,x", "about:blank"} {
		if got, err := render(t, b, address, anywhere); err == nil {
			t.Errorf("%s was opened: %+v", address, got)
		}
	}
}
