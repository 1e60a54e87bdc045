package sourcetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// group answers a request for who is in a group, and in the groups in it. A group that the world
// does not have is not there. Names of people need a permission of their own.
func (g *MSGraph) group(w http.ResponseWriter, r *http.Request, path string) {
	id, transitive := strings.CutSuffix(path, "/transitiveMembers")
	users, groups, there := g.World.Inside(id)
	switch {
	case !transitive:
		graphError(w, http.StatusBadRequest, "Request_BadRequest")
		return
	case !g.has("GroupMember.Read.All"):
		graphError(w, http.StatusForbidden, "Authorization_RequestDenied")
		return
	case !there:
		graphError(w, http.StatusNotFound, "Request_ResourceNotFound")
		return
	}
	list := []any{map[string]any{"@odata.type": "#microsoft.graph.device", "id": "id of a device"}}
	for _, name := range groups {
		list = append(list, map[string]any{"@odata.type": "#microsoft.graph.group", "id": name, "mail": name + "@groups.example.org"})
	}
	for _, name := range users {
		user := map[string]any{"@odata.type": "#microsoft.graph.user", "id": "id of " + name, "mail": nil, "userPrincipalName": nil}
		if g.has("User.ReadBasic.All") {
			user["mail"], user["userPrincipalName"] = strings.ToUpper(name[:1])+name[1:], "upn."+name
		}
		list = append(list, user)
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("$skiptoken"))
	last := min(from+2, len(list))
	out := map[string]any{"value": list[min(from, last):last]}
	if last < len(list) {
		out["@odata.nextLink"] = fmt.Sprintf("http://%s%s?$skiptoken=%d", r.Host, r.URL.Path, last)
	}
	answer(w, out)
}
