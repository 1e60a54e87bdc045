package sharepoint

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The beginnings of the login names of SharePoint, which are the same in every language. Each
// tells a kind of people.
const (
	claimUser      = "i:0#.f|membership|"
	claimGroup     = "c:0t.c|tenant|"                          // a security group of Entra
	claimTeam      = "c:0o.c|federateddirectoryclaimprovider|" // a group of Microsoft 365
	claimEmployees = "c:0-.f|rolemanager|spo-grid-all-users/"  // everyone except external users
	claimEveryone  = "c:0(.s|true"
)

// addClaim adds whom a login name means to those who may see a file; known is false for a
// name of another kind. The owners of a group of Microsoft 365 are no group of Entra: they
// have no counterpart.
func addClaim(a *knowledge.Access, login string) (known bool) {
	login = strings.ToLower(login)
	for _, prefix := range []string{claimUser, claimGroup, claimTeam, claimEmployees, claimEveryone} {
		name, found := strings.CutPrefix(login, prefix)
		switch {
		case !found:
			continue
		case prefix == claimEmployees || prefix == claimEveryone:
			a.Workspace = true
		case prefix == claimUser:
			a.Users = append(a.Users, name)
		case !strings.HasSuffix(name, "_o"):
			a.Groups = append(a.Groups, name)
		}
		return true
	}
	return false
}
