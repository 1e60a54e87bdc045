package sourcetest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Drive is a fake of Google Drive's REST protocol, version 3: tokens of service accounts,
// lists, changes, permissions, downloads and exports. As the real one, it tells of a changed
// folder, and not of what is below it.
type Drive struct {
	World *World
	// Exports are the files that are documents of Google, which have no bytes of their own.
	Exports func(id int) bool
	// Unreadable is a file whose bytes are refused, 0 = none.
	Unreadable int
	// KeyEnds is when the key of the service account expires.
	KeyEnds time.Time
	// Undelegated reports that the service account may not ask for tokens of the Directory API.
	Undelegated bool
	// Untold is the reason for which the Directory API refuses requests, "" = it does not.
	Untold string

	key     *rsa.PrivateKey
	forgets int // changes before this one
}

// NewDrive returns a fake of a world, which accepts the service account of Account.
func NewDrive(w *World, key *rsa.PrivateKey) *Drive {
	return &Drive{World: w, key: key, Exports: func(id int) bool { return id%5 == 0 }}
}

// NewKey returns a key for service accounts. Making one takes long.
func NewKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 1024) }

// Account returns the file of the service account.
func (d *Drive) Account() string {
	data, err := x509.MarshalPKCS8PrivateKey(d.key)
	if err != nil {
		panic(err) // of a key that was just made
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "reader@project.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data})),
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Expire makes the fake forget the changes until now.
func (d *Drive) Expire() { d.forgets = d.World.logged() }

// ServeHTTP implements http.Handler.
func (d *Drive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		d.grant(w, r)
		return
	}
	if r.URL.Path == "/service_accounts/v1/metadata/x509/reader@project.iam.gserviceaccount.com" {
		d.certificates(w)
		return
	}
	if group, ok := strings.CutPrefix(r.URL.Path, "/admin/directory/v1/groups/"); ok {
		d.group(w, r, group)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+scopeDrive {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path, q := strings.TrimPrefix(r.URL.Path, "/drive/v3/"), r.URL.Query()
	id, action, _ := strings.Cut(strings.TrimPrefix(path, "files/"), "/")
	switch path {
	case "about":
		answer(w, map[string]any{"user": map[string]string{}})
	case "changes/startPageToken":
		answer(w, map[string]string{"startPageToken": strconv.Itoa(d.World.logged())})
	case "changes":
		d.changes(w, q)
	case "files":
		d.files(w, q)
	default:
		d.file(w, id, action, q)
	}
}

func (d *Drive) grant(w http.ResponseWriter, r *http.Request) {
	var claims struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}
	_, err := jwt.ParseWithClaims(r.FormValue("assertion"), &claims, func(*jwt.Token) (any, error) { return &d.key.PublicKey, nil }, jwt.WithValidMethods([]string{"RS256"}))
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case claims.Scope != scopeDrive && (claims.Scope != scopeMembers || d.Undelegated): // unauthorized_client
		w.WriteHeader(http.StatusUnauthorized)
	default:
		answer(w, map[string]any{"access_token": claims.Scope, "expires_in": 3600})
	}
}

// certificates answers with those of the keys of the service account, which are public.
func (d *Drive) certificates(w http.ResponseWriter) {
	list := map[string]string{}
	for id, ends := range map[string]time.Time{"1": d.KeyEnds, "another": d.KeyEnds.AddDate(-1, 0, 0)} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: ends}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &d.key.PublicKey, d.key)
		if err != nil {
			panic(err) // of a key that was just made
		}
		list[id] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	answer(w, list)
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a recorder takes everything
}

// idOf returns the id of an item in Drive.
func (d *Drive) idOf(id int) string { return fmt.Sprintf("item-%d", id) }

// page returns the part of a list that a query asks for, and the token of the next one.
func page[T any](list []T, q url.Values, from int) (part []T, next string) {
	size, _ := strconv.Atoi(q.Get("pageSize"))
	from = min(from, len(list))
	last := min(from+max(size, 1), len(list))
	if last < len(list) {
		next = strconv.Itoa(last)
	}
	return list[from:last], next
}

func (d *Drive) changes(w http.ResponseWriter, q url.Values) {
	from, err := strconv.Atoi(q.Get("pageToken"))
	if err != nil || from < d.forgets {
		w.WriteHeader(http.StatusGone)
		return
	}
	log := d.World.changesFrom(0)
	part, next := page(log, q, from)
	list := []any{}
	for _, id := range part {
		change := map[string]any{"changeType": "file", "fileId": d.idOf(id), "removed": true}
		if f := d.render(id); f != nil {
			change["removed"], change["file"] = false, f
		}
		list = append(list, change)
	}
	out := map[string]any{"changes": list}
	if next != "" {
		out["nextPageToken"] = next
	} else {
		out["newStartPageToken"] = strconv.Itoa(len(log))
	}
	answer(w, out)
}

// render returns an item as Drive shows it, nil if it is not there.
func (d *Drive) render(id int) map[string]any {
	i, trashed, there := d.World.look(id)
	if !there {
		return nil
	}
	f := map[string]any{"id": d.idOf(id), "name": i.Name, "trashed": trashed, "mimeType": "text/plain", "modifiedTime": stamp(i.Version)}
	if id != 0 {
		f["parents"] = []string{d.idOf(i.Parent)}
	}
	switch {
	case i.Folder:
		f["mimeType"] = "application/vnd.google-apps.folder"
	case d.Exports(id):
		f["mimeType"] = "application/vnd.google-apps.document"
	default:
		f["md5Checksum"], f["size"] = tagOf(i), strconv.Itoa(len(i.Content))
	}
	access := d.World.accessOf(id)
	list := []any{map[string]any{"type": "anyone"}}
	for _, user := range access.Users {
		list = append(list, map[string]any{"type": "user", "emailAddress": user})
	}
	for _, group := range access.Groups {
		list = append(list, map[string]any{"type": "group", "emailAddress": group})
	}
	f["permissions"] = list
	return f
}

// stamp returns a time that changes with a version.
func stamp(version int) string {
	return time.Unix(int64(version), 0).UTC().Format(time.RFC3339Nano)
}

func (d *Drive) files(w http.ResponseWriter, q url.Values) {
	from, _ := strconv.Atoi(q.Get("pageToken"))
	ids := d.World.ids(false)
	ids = slices.DeleteFunc(ids, func(id int) bool {
		i, _ := d.World.Item(id)
		return i.Folder
	})
	// A token names the first id that was not listed, so that a list which changes loses none.
	ids = slices.DeleteFunc(ids, func(id int) bool { return id < from })
	size, _ := strconv.Atoi(q.Get("pageSize"))
	out := map[string]any{}
	if len(ids) > size {
		out["nextPageToken"], ids = strconv.Itoa(ids[size]), ids[:size]
	}
	list := []any{}
	for _, id := range ids {
		if f := d.render(id); f != nil {
			list = append(list, f)
		}
	}
	out["files"] = list
	answer(w, out)
}

func (d *Drive) file(w http.ResponseWriter, name, action string, q url.Values) {
	id, err := strconv.Atoi(strings.TrimPrefix(name, "item-"))
	f := d.render(id)
	i, trashed, _ := d.World.look(id)
	switch {
	case err != nil || f == nil:
		w.WriteHeader(http.StatusNotFound)
	case action == "" && q.Get("alt") != "media":
		answer(w, f)
	case id == d.Unreadable && q.Get("alt") == "media":
		w.WriteHeader(http.StatusForbidden)
	case trashed || i.Folder:
		w.WriteHeader(http.StatusNotFound)
	case action == "permissions":
		answer(w, map[string]any{"permissions": f["permissions"]})
	case action == "export" && d.Exports(id), action == "" && !d.Exports(id):
		put(w, "%s", i.Content)
	default:
		w.WriteHeader(http.StatusForbidden)
	}
}
