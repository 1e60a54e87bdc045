package sourcetest

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// MSGraph is a fake of Microsoft Graph, version 1.0: tokens of applications, sites, drives
// with their changes and permissions, pages and lists, and who is in groups; and of the part of SharePoint's own
// protocol that tells the members of groups. Set its fields before it serves.
//
// As the real one, it tells of a changed folder, and not of what is below it; names a deleted
// item without its name; may tell a change later than it shows it; and sends the bytes of a
// file from a signed address, which refuses tokens.
type MSGraph struct {
	World      *World // of the library that Drive names
	Pages      *World // of the library of the pages, nil = there is none
	Lists      []MSList
	Secret     string // client secret
	SecretEnds time.Time
	// Certificate signs in, too, with its key.
	Certificate *x509.Certificate
	// SiteGroups are the login names of the members of the groups of the site, by id.
	SiteGroups map[int][]string
	// Grants replaces the permissions of an item, by its id. Defaults to those of the world.
	Grants func(id int) []any
	// Uses is after how many requests a token is refused. Defaults to never.
	Uses int
	// Unreadable is a file whose bytes are refused, 0 = none.
	Unreadable int
	// Lags reports that changes are told one request for changes later.
	Lags bool

	mu      sync.Mutex
	roles   []string       // application permissions
	asked   map[string]int // requests, by their first words
	granted int            // tokens
	left    int            // uses of the newest token
	seen    map[*World]int
	forgets int // changes before this one
}

// MSList is a list of the site: its rows have their columns in order.
type MSList struct {
	ID, Name string
	Columns  []string
	Rows     [][]string
}

// The place that the fake has.
const (
	MSTenant   = "contoso.example.com"
	MSClient   = "cairn-reader"
	MSDrive    = "b!library"
	MSPages    = "b!pages"
	msSite     = "contoso.sharepoint.test,site,web"
	msPageList = "list-of-pages"
)

// NewMSGraph returns a fake of a world that an application may read completely.
func NewMSGraph(w *World) *MSGraph {
	return &MSGraph{World: w, Secret: "client-secret", roles: MSMirrors(), asked: map[string]int{}, seen: map[*World]int{}}
}

// MSMirrors are the application permissions with which files and their rights are read.
func MSMirrors() []string {
	return []string{"Sites.FullControl.All", "GroupMember.Read.All", "User.ReadBasic.All"}
}

// Expire makes the fake forget the changes until now.
func (g *MSGraph) Expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgets = g.World.logged()
}

// Asked returns how many requests there were since the last call, tokens too.
func (g *MSGraph) Asked() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, count := range g.asked {
		n += count
	}
	clear(g.asked)
	return n
}

// ServeHTTP implements http.Handler.
func (g *MSGraph) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asked[r.Method+" "+r.URL.Path]++
	g.mu.Unlock()
	switch path, graph := strings.CutPrefix(r.URL.Path, "/v1.0/"); {
	case strings.HasSuffix(r.URL.Path, "/oauth2/v2.0/token"):
		g.grant(w, r)
	case strings.HasPrefix(r.URL.Path, "/download/"):
		g.download(w, r)
	case !g.accepts(r):
		w.WriteHeader(http.StatusUnauthorized)
	case !graph && strings.HasSuffix(r.URL.Path, "/_api/web/sitegroups"):
		g.siteGroups(w, r)
	case strings.HasPrefix(path, "groups/"):
		g.group(w, r, strings.TrimPrefix(path, "groups/"))
	case strings.HasPrefix(path, "drives/"):
		g.drive(w, r, strings.Split(path, "/")[1:])
	default:
		g.site(w, r, path)
	}
}

// grant answers a request for a token.
func (g *MSGraph) grant(w http.ResponseWriter, r *http.Request) {
	resource, _ := strings.CutSuffix(r.FormValue("scope"), "/.default")
	code := 0
	switch {
	case !strings.Contains(r.URL.Path, MSTenant):
		code = 90002
	case r.FormValue("client_id") != MSClient:
		code = 700016
	case r.FormValue("client_assertion") != "" && !g.signed(r):
		code = 700027
	case r.FormValue("client_assertion") == "" && r.FormValue("client_secret") != g.Secret:
		code = 7000215
	}
	if code != 0 {
		w.WriteHeader(http.StatusUnauthorized)
		answer(w, map[string]any{"error": "invalid_client", "error_codes": []int{code}})
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.granted++
	g.left = g.Uses
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"aud": resource, "roles": g.roles, "jti": strconv.Itoa(g.granted), "appidacr": map[bool]string{true: "2", false: "1"}[r.FormValue("client_assertion") != ""],
	})
	text, err := token.SignedString([]byte("key"))
	if err != nil {
		panic(err) // of claims that are all texts
	}
	answer(w, map[string]any{"token_type": "Bearer", "access_token": text, "expires_in": 3599})
}

// signed reports whether the assertion of a request is signed by the certificate, for the
// address of the request.
func (g *MSGraph) signed(r *http.Request) bool {
	if g.Certificate == nil {
		return false
	}
	sum := sha256.Sum256(g.Certificate.Raw)
	key, _ := g.Certificate.PublicKey.(*rsa.PublicKey)
	token, err := jwt.Parse(r.FormValue("client_assertion"), func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{"PS256"}), jwt.WithAudience("http://"+r.Host+r.URL.Path), jwt.WithIssuer(MSClient), jwt.WithSubject(MSClient), jwt.WithExpirationRequired())
	return err == nil && token.Header["x5t#S256"] == base64.RawURLEncoding.EncodeToString(sum[:])
}

// accepts reports whether a request has a token for its host that is neither old nor used up.
func (g *MSGraph) accepts(r *http.Request) bool {
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var claims jwt.MapClaims
	_, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return []byte("key"), nil })
	if err != nil || claims["aud"] != "http://"+r.Host {
		return false
	}
	if strings.Contains(r.URL.Path, "/_api/") && claims["appidacr"] != "2" {
		return false // SharePoint wants a certificate
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Uses == 0 {
		return true
	}
	if claims["jti"] != strconv.Itoa(g.granted) || g.left == 0 {
		return false
	}
	g.left--
	return true
}

// Permit sets the application permissions of tokens that are granted from now on.
func (g *MSGraph) Permit(roles ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.roles = roles
}

func (g *MSGraph) has(role string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.roles, role)
}

func (g *MSGraph) siteGroups(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "odata=nometadata") {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	list := []any{}
	for id, members := range g.SiteGroups {
		users := []any{}
		for _, login := range members {
			users = append(users, map[string]string{"LoginName": login})
		}
		list = append(list, map[string]any{"Id": id, "Users": users})
	}
	answer(w, map[string]any{"value": list})
}

// graphError answers with an error as Graph does.
func graphError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": "An error in another language"}}) // a recorder takes everything
}

func itemID(id int) string { return fmt.Sprintf("01ITEM%d", id) }
