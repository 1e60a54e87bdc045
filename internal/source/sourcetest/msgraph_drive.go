package sourcetest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// drive answers a request for a part of a drive.
func (g *MSGraph) drive(w http.ResponseWriter, r *http.Request, path []string) {
	world := map[string]*World{MSDrive: g.World, MSPages: g.Pages}[path[0]]
	rest := strings.Join(path[1:], "/")
	if world == nil {
		graphError(w, http.StatusNotFound, "itemNotFound")
		return
	}
	switch folder, named := strings.CutPrefix(rest, "root:/"); {
	case rest == "":
		answer(w, map[string]any{"id": path[0], "sharePointIds": map[string]string{"siteUrl": "http://" + r.Host + "/sites/legal"}})
	case rest == "root/delta":
		g.delta(w, r, path[0], world)
	case rest == "root/permissions":
		g.item(w, r, world, path[0], 0, "permissions")
	case named:
		i, _, there := world.Find(folder)
		if !there {
			graphError(w, http.StatusNotFound, "itemNotFound")
			return
		}
		answer(w, g.render(world, path[0], i.ID))
	case path[1] == "items" && len(path) > 2:
		id, err := strconv.Atoi(strings.TrimPrefix(path[2], "01ITEM"))
		if err != nil {
			id = -1
		}
		g.item(w, r, world, path[0], id, strings.Join(path[3:], "/"))
	default:
		graphError(w, http.StatusBadRequest, "invalidRequest")
	}
}

func (g *MSGraph) item(w http.ResponseWriter, r *http.Request, world *World, drive string, id int, action string) {
	i, there := world.Item(id)
	switch {
	case !there:
		graphError(w, http.StatusNotFound, "itemNotFound")
	case action == "":
		answer(w, g.render(world, drive, id))
	case action == "permissions" && !g.has("Sites.FullControl.All"):
		answer(w, map[string]any{"value": []any{}}) // those that concern the application
	case action == "permissions":
		answer(w, map[string]any{"value": g.permissions(world, id)})
	case action != "content" || i.Folder:
		graphError(w, http.StatusBadRequest, "invalidRequest")
	case id == g.Unreadable:
		graphError(w, http.StatusForbidden, "accessDenied")
	default:
		host := "download." + r.Host
		if strings.HasPrefix(r.Host, "127.") {
			host = r.Host
		}
		http.Redirect(w, r, fmt.Sprintf("http://%s/download/%s/%d?tempauth=signed", host, drive, id), http.StatusFound)
	}
}

// download answers a request for a signed address.
func (g *MSGraph) download(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	id, err := strconv.Atoi(parts[len(parts)-1])
	if r.URL.Query().Get("tempauth") != "signed" || r.Header.Get("Authorization") != "" || err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	i, there := g.World.Item(id)
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	put(w, "%s", i.Content)
}

// delta answers a request for the state of a drive, or for what has changed in it.
func (g *MSGraph) delta(w http.ResponseWriter, r *http.Request, drive string, world *World) {
	q := r.URL.Query()
	size, _ := strconv.Atoi(q.Get("$top"))
	kind, at, _ := strings.Cut(q.Get("token"), "~")
	from, _ := strconv.Atoi(at)
	g.mu.Lock()
	shown := world.logged()
	if before := g.seen[world]; g.Lags {
		shown, g.seen[world] = before, shown
	}
	forgotten := world == g.World && kind == "changes" && from < g.forgets
	g.mu.Unlock()
	link := func(token string) string {
		return fmt.Sprintf("http://%s/v1.0/drives/%s/root/delta?$top=%d&token=%s", r.Host, drive, size, token)
	}
	out := map[string]any{"value": []any{}}
	switch {
	case forgotten:
		w.Header().Set("Location", link("")) // of a new listing
		graphError(w, http.StatusGone, "resyncChangesApplyDifferences")
		return
	case kind == "latest":
		out["@odata.deltaLink"] = link(fmt.Sprintf("changes~%d", shown))
	case kind == "changes":
		log := world.changesFrom(0)[:max(shown, from)]
		last := min(from+max(size, 3), len(log))
		out["value"] = g.changes(world, drive, log[:last], from, r.Header.Get("deltaExcludeParent") == "", strings.Contains(r.Header.Get("Prefer"), "deltashowsharingchanges"))
		if last < len(log) {
			out["@odata.nextLink"] = link(fmt.Sprintf("changes~%d", last))
		} else {
			out["@odata.deltaLink"] = link(fmt.Sprintf("changes~%d", last))
		}
	default:
		list, next := g.everything(world, drive, from, max(size, 1))
		out["value"] = list
		if next > 0 {
			out["@odata.nextLink"] = link(fmt.Sprintf("all~%d", next))
		} else { // what was removed during the listing is never told
			out["@odata.deltaLink"] = link(fmt.Sprintf("changes~%d", world.logged()))
		}
	}
	answer(w, out)
}

// everything returns items as they are now, from one on, and the first one behind them, 0 =
// there is none.
func (g *MSGraph) everything(world *World, drive string, from, size int) (list []any, next int) {
	ids := slices.DeleteFunc(append([]int{0}, world.ids(false)...), func(id int) bool { return id < from })
	if len(ids) > size {
		next, ids = ids[size], ids[:size]
	}
	list = []any{}
	for _, id := range ids {
		list = append(list, g.render(world, drive, id))
	}
	return list, next
}

// changes returns the items that have changed, as they are now, behind the root and, unless
// they are not wanted, the folders above them.
func (g *MSGraph) changes(world *World, drive string, log []int, from int, parents, sharing bool) []any {
	list := []any{}
	if len(log) > from {
		list = append(list, g.render(world, drive, 0))
	}
	for n, id := range log[from:] {
		i := g.render(world, drive, id)
		switch share := world.isShare(from + n); {
		case share && !sharing:
			continue
		case share:
			i["@microsoft.graph.sharedChanged"] = "True"
		}
		for at, _, there := world.look(id); parents && there && at.Parent != 0; at, _, there = world.look(at.Parent) {
			list = append(list, g.render(world, drive, at.Parent))
		}
		list = append(list, i)
	}
	return list
}

// render returns an item as Graph shows it.
func (g *MSGraph) render(world *World, drive string, id int) map[string]any {
	i, gone, there := world.look(id)
	out := map[string]any{"id": itemID(id)}
	if id != 0 {
		out["parentReference"] = map[string]string{"driveId": drive, "id": itemID(i.Parent)}
	}
	switch {
	case i.Folder && (!gone || id%2 == 0):
		out["folder"] = map[string]int{"childCount": 1}
	case there && !i.Folder:
		out["file"] = map[string]any{"mimeType": "text/plain"}
	}
	if gone || !there {
		out["deleted"] = map[string]string{"state": "deleted"}
		return out
	}
	out["name"], out["lastModifiedDateTime"], out["webUrl"] = i.Name, stamp(i.Version), "http://contoso.sharepoint.test/sites/legal/Documents/"+url.PathEscape(i.Name)
	out["eTag"] = fmt.Sprintf(`"{%08d-0000-0000-0000-000000000000},%d"`, id, i.Changed)
	if id == 0 {
		out["root"], out["name"] = map[string]any{}, "root"
	}
	if i.Folder {
		return out
	}
	out["cTag"], out["size"] = fmt.Sprintf(`"c:{%08d},%d"`, id, i.Version), len(i.Content)
	if id%3 != 0 { // not every file has a hash
		sum := sha256.Sum256([]byte(i.Content))
		out["file"] = map[string]any{"mimeType": "text/plain", "hashes": map[string]string{"quickXorHash": base64.StdEncoding.EncodeToString(sum[:20])}}
	}
	return out
}

// permissions returns the rights on an item: those of the world, each in one of the forms that
// Graph has, and others that give nobody a right here.
func (g *MSGraph) permissions(world *World, id int) []any {
	if g.Grants != nil {
		return g.Grants(id)
	}
	access := world.accessOf(id)
	list := []any{
		map[string]any{"roles": []string{"read"}, "link": map[string]string{"scope": "anonymous", "type": "view"}, "expirationDateTime": "0001-01-01T00:00:00Z"},
		map[string]any{"roles": []string{"read"}, "link": map[string]string{"scope": "existingAccess", "type": "view"}, "grantedToIdentitiesV2": []any{MSUser("stranger@example.org")}},
		map[string]any{"roles": []string{"write"}, "grantedToV2": map[string]any{"application": map[string]string{"id": "app", "displayName": "Cairn"}}},
		map[string]any{"roles": []string{"sp.limited access"}, "grantedToV2": MSUser("passer@example.org")},
		map[string]any{"roles": []string{"write"}, "invitation": map[string]any{"email": "invited@example.org"}},
		map[string]any{"roles": []string{"read"}, "grantedToV2": MSUser("former@example.org"), "expirationDateTime": "2000-01-01T00:00:00Z"},
	}
	for n, user := range access.Users {
		if n%2 == 0 {
			list = append(list, map[string]any{"roles": []string{"owner"}, "grantedToV2": MSUser(user)})
			continue
		}
		list = append(list, map[string]any{"roles": []string{"write"}, "link": map[string]string{"scope": "users", "type": "edit"}, "grantedToIdentitiesV2": []any{MSUser(user)}})
	}
	for _, group := range access.Groups {
		list = append(list, map[string]any{"roles": []string{"read"}, "grantedToV2": map[string]any{
			"group": map[string]string{"id": strings.ToUpper(group), "displayName": "Equipe"}, "siteUser": map[string]string{"loginName": "c:0t.c|tenant|" + group},
		}})
	}
	return list
}

// MSUser returns somebody as Graph names him in permissions.
func MSUser(address string) map[string]any {
	return map[string]any{
		"user":     map[string]string{"id": "id of " + address, "email": strings.ToUpper(address[:1]) + address[1:], "displayName": "Somebody"},
		"siteUser": map[string]string{"id": "7", "loginName": "i:0#.f|membership|" + address, "displayName": "Somebody"},
	}
}
