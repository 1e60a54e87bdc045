package sourcetest

import (
	"net/http"
	"strconv"
	"strings"
)

// The scopes of Google for which the fake grants tokens.
const (
	scopeDrive   = "https://www.googleapis.com/auth/drive.readonly"
	scopeMembers = "https://www.googleapis.com/auth/admin.directory.group.member.readonly"
)

// group answers a request for who is in a group and in the groups in it, as the Directory API
// does. A group that the world does not have is not there.
func (d *Drive) group(w http.ResponseWriter, r *http.Request, path string) {
	id, members := strings.CutSuffix(path, "/members")
	users, groups, there := d.World.Inside(id)
	q := r.URL.Query()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+scopeMembers:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case !members || q.Get("includeDerivedMembership") != "true" || q.Get("maxResults") != "200":
		w.WriteHeader(http.StatusBadRequest)
		return
	case d.Untold != "":
		w.WriteHeader(http.StatusForbidden)
		answer(w, map[string]any{"error": map[string]any{"errors": []any{map[string]any{"reason": d.Untold}}}})
		return
	case !there:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	list := []any{}
	for _, name := range groups {
		list = append(list, map[string]any{"type": "GROUP", "email": name, "role": "MEMBER", "status": "ACTIVE"})
	}
	for _, name := range users {
		member := map[string]any{"type": "USER", "email": strings.ToUpper(name[:1]) + name[1:], "role": "MEMBER", "status": "ACTIVE"}
		if name == Everybody {
			member = map[string]any{"type": "CUSTOMER", "id": "C01", "role": "MEMBER"}
		}
		list = append(list, member)
	}
	from, _ := strconv.Atoi(q.Get("pageToken"))
	last := min(from+2, len(list)) // pages may be shorter than asked for
	out := map[string]any{"members": list[min(from, last):last]}
	if last < len(list) {
		out["nextPageToken"] = strconv.Itoa(last)
	}
	answer(w, out)
}

// Everybody is the member of groups of Google that stands for all in the organisation.
const Everybody = "everybody"
