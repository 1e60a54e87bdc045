package sourcetest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Confluence is a fake of Confluence's REST protocol, in the cloud or in a data center, over
// a world of pages: searches, contents, attachments, permissions, restrictions and groups. The
// root of the world is a space. As the real one, it finds what was modified by the minute and
// with a delay, and tells of nothing that is gone. Set its fields before it serves.
type Confluence struct {
	World *World
	Cloud bool
	Base  string // path of Confluence
	Space string // key
	// Attached are the items that are attachments of the pages in which they are. Defaults to
	// none.
	Attached func(id int) bool
	// Posts are the items at the root that are blog posts. Defaults to none.
	Posts func(id int) bool
	// Elsewhere are the items that are in another space. Defaults to none.
	Elsewhere func(id int) bool
	// Archives makes the trash an archive, of which the search tells.
	Archives bool
	// Public reports that people who have not signed in see the space.
	Public bool
	// NoPermissions hides from the account who may see the space.
	NoPermissions bool
	// Mails reports that the cloud shows the mail addresses of accounts.
	Mails bool
	// Lag is how long the search does not find a change.
	Lag time.Duration
	// Gone makes the search find nothing, as while its index is made anew.
	Gone bool
	// Asked counts the requests.
	Asked int
}

// NewConfluence returns a fake of a world.
func NewConfluence(w *World, cloud bool) *Confluence {
	c := &Confluence{World: w, Cloud: cloud, Space: "DOC", Attached: none, Posts: none, Elsewhere: none}
	if cloud {
		c.Base, c.Mails = "/wiki", true
	}
	return c
}

func none(int) bool { return false }

// The account that reads Confluence.
const (
	ConfluenceUser   = "reader@example.org" // in the cloud
	ConfluenceSecret = "token"
)

// ServeHTTP implements http.Handler.
func (c *Confluence) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Asked++
	path, inside := strings.CutPrefix(r.URL.Path, c.Base+"/")
	if !inside {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Header.Get("Authorization") == "" && c.Public && path == "rest/api/content/search" {
		c.search(w, r.URL.Query())
		return
	}
	user, secret, basic := r.BasicAuth()
	if c.Cloud != basic || c.Cloud && (user != ConfluenceUser || secret != ConfluenceSecret) || !c.Cloud && r.Header.Get("Authorization") != "Bearer "+ConfluenceSecret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c.signedIn(w, path, r.URL.Query())
}

func (c *Confluence) signedIn(w http.ResponseWriter, path string, q url.Values) {
	id, content := strings.CutPrefix(path, "rest/api/content/")
	file, download := strings.CutPrefix(path, "download/attachments/")
	name, group := strings.CutPrefix(path, "rest/api/group/")
	switch {
	case path == "rest/api/user/current":
		answer(w, map[string]string{"type": "known"})
	case path == "rest/api/user":
		answer(w, c.user(strings.TrimPrefix(q.Get("accountId")+q.Get("key"), "key ")))
	case path == "rest/api/content/search":
		c.search(w, q)
	case content:
		c.content(w, id, q)
	case download:
		c.download(w, file)
	case path == "api/v2/spaces" && c.Cloud:
		c.spaces(w, q)
	case path == "rest/api/space/"+c.Space && !c.Cloud:
		answer(w, c.space(0))
	case strings.HasSuffix(path, "/permissions") && c.NoPermissions:
		w.WriteHeader(http.StatusForbidden)
	case path == "api/v2/spaces/77/permissions" && c.Cloud, path == "rest/api/space/"+c.Space+"/permissions" && !c.Cloud:
		c.permissions(w)
	case group:
		c.members(w, name, q)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// space returns the space of an item.
func (c *Confluence) space(id int) map[string]any {
	if c.Elsewhere(id) {
		return map[string]any{"id": 78, "key": "ELSE", "name": "Another one", "type": "global"}
	}
	return map[string]any{"id": 77, "key": c.Space, "name": "Documentation", "type": "global"}
}

func (c *Confluence) spaces(w http.ResponseWriter, q url.Values) {
	list := []any{}
	if q.Get("keys") == c.Space {
		list = append(list, map[string]any{"id": "77", "key": c.Space})
	}
	answer(w, map[string]any{"results": list})
}

// user returns an account as the product shows it. Its name is its id.
func (c *Confluence) user(name string) map[string]string {
	switch {
	case !c.Cloud:
		return map[string]string{"type": "known", "username": name, "userKey": "key " + name}
	case c.Mails:
		return map[string]string{"type": "known", "accountId": name, "email": name}
	}
	return map[string]string{"type": "known", "accountId": name, "email": ""}
}

func (c *Confluence) group(name string) map[string]string {
	if c.Cloud {
		return map[string]string{"type": "group", "id": "group " + name, "name": name}
	}
	return map[string]string{"type": "group", "name": name}
}

// permissions answers who may see the space, among other rights.
func (c *Confluence) permissions(w http.ResponseWriter) {
	root, _ := c.World.Item(0)
	list := []any{}
	add := func(kind, name string) {
		if !c.Cloud {
			subject := map[string]string{"type": kind, "userKey": "key " + name}
			if kind == "group" {
				subject = map[string]string{"type": kind, "name": name}
			}
			list = append(list, map[string]any{"operation": map[string]string{"targetType": "space", "operationKey": "read"}, "subject": subject},
				map[string]any{"operation": map[string]string{"targetType": "page", "operationKey": "create"}, "subject": map[string]string{"type": "user", "userKey": "key mallory"}})
			return
		}
		id := name
		if kind == "group" {
			id = "group " + name
		}
		list = append(list, map[string]any{"principal": map[string]string{"type": kind, "id": id}, "operation": map[string]string{"key": "read", "targetType": "space"}},
			map[string]any{"principal": map[string]string{"type": "user", "id": "mallory"}, "operation": map[string]string{"key": "create", "targetType": "page"}})
	}
	for _, name := range append([]string{root.Owner}, root.Users...) {
		add("user", name)
	}
	for _, name := range root.Groups {
		add("group", name)
	}
	if c.Cloud {
		answer(w, map[string]any{"results": list, "_links": map[string]string{}})
		return
	}
	answer(w, list)
}

// members answers who is in a group, and in the groups in it.
func (c *Confluence) members(w http.ResponseWriter, name string, q url.Values) {
	name, kind, _ := strings.Cut(name, "/")
	if c.Cloud != (kind == "membersByGroupId") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	users, _, there := c.World.Inside(strings.TrimPrefix(name, "group "))
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	list := []any{}
	for _, user := range users {
		list = append(list, c.user(user))
	}
	start, _ := strconv.Atoi(q.Get("start"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	list, limit = list[min(start, len(list)):], min(limit, 2) // less than is asked for
	answer(w, map[string]any{"results": list[:min(limit, len(list))], "limit": limit})
}

// render returns an item as Confluence shows it, nil if it is not there.
func (c *Confluence) render(id int, expand string) map[string]any {
	i, trashed, there := c.World.look(id)
	if !there || trashed && !c.Archives {
		return nil
	}
	kind, status := "page", "current"
	switch {
	case c.attached(id):
		kind = "attachment"
	case !i.Folder && i.Parent == 0 && c.Posts(id):
		kind = "blogpost"
	}
	if trashed {
		status = "archived"
	}
	shown := map[string]any{
		"id": c.idOf(id), "type": kind, "status": status, "title": i.Name, "space": c.space(id),
		"version": map[string]any{"number": i.Version, "when": i.Edited.UTC().Format("2006-01-02T15:04:05.000Z07:00")},
	}
	if kind == "attachment" {
		shown["container"] = map[string]any{"id": strconv.Itoa(i.Parent), "type": "page"}
		shown["extensions"] = map[string]any{"mediaType": "text/plain", "fileSize": len(i.Content)}
		shown["_links"] = map[string]string{"download": fmt.Sprintf("/download/attachments/%d?version=%d", id, i.Version)}
	} else {
		shown["container"] = c.space(id)
		shown["ancestors"] = c.ancestors(i)
	}
	labels := []any{map[string]string{"prefix": "my", "name": "favourite"}}
	for _, name := range i.Labels {
		labels = append(labels, map[string]string{"prefix": "global", "name": name})
	}
	shown["metadata"] = map[string]any{"labels": map[string]any{"results": labels}}
	if strings.Contains(expand, "restrictions") {
		shown["restrictions"] = c.restrictions(i)
	}
	if strings.Contains(expand, "body.export_view") {
		shown["body"] = map[string]any{"export_view": map[string]string{"value": i.Content}}
	}
	return shown
}

func (c *Confluence) ancestors(i Item) []any {
	list := []any{}
	for at := i.Parent; at != 0; {
		above, there := c.World.Item(at)
		if !there {
			break
		}
		list = append([]any{map[string]any{"id": strconv.Itoa(at), "type": "page", "title": above.Name}}, list...)
		at = above.Parent
	}
	return list
}

func (c *Confluence) restrictions(i Item) map[string]any {
	users, groups := []any{}, []any{}
	for _, name := range i.Users {
		users = append(users, c.user(name))
	}
	for _, name := range i.Groups {
		groups = append(groups, c.group(name))
	}
	list := func(of []any) map[string]any { return map[string]any{"results": of, "size": len(of), "limit": 200} }
	return map[string]any{"read": map[string]any{"operation": "read", "restrictions": map[string]any{"user": list(users), "group": list(groups)}}}
}

func (c *Confluence) content(w http.ResponseWriter, name string, q url.Values) {
	id, err := strconv.Atoi(strings.TrimPrefix(name, "att"))
	shown := c.render(id, q.Get("expand"))
	if err != nil || id == 0 || shown == nil || c.idOf(id) != name {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer(w, shown)
}

func (c *Confluence) download(w http.ResponseWriter, name string) {
	id, err := strconv.Atoi(name)
	i, there := c.World.Item(id)
	if err != nil || !there || !c.attached(id) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", cmp.Or(http.DetectContentType([]byte(i.Content)), "text/plain"))
	put(w, "%s", i.Content)
}
