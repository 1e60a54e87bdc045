package sharepoint_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sharepoint"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// object is a part of an answer of Graph.
type object = map[string]any

func grant(role string, to object) object {
	return object{"roles": []string{role}, "grantedToV2": to}
}

func login(name string) object { return object{"siteUser": object{"loginName": name}} }

// TestGrants has permissions in each form of Graph.
func TestGrants(t *testing.T) {
	t.Parallel()
	const group = "6e9f4c2a-0000-4000-8000-000000000001"
	for name, c := range map[string]struct {
		grants []any
		want   knowledge.Access
	}{
		"a person, by mail address and by the name to sign in with": {[]any{grant("read", object{
			"user": object{"email": "Ann.Smith@Contoso.com"}, "siteUser": object{"loginName": "i:0#.f|membership|ann@contoso.com"},
		})}, knowledge.Access{Users: []string{"ann.smith@contoso.com", "ann@contoso.com"}}},
		"a group of Entra":                {[]any{grant("write", object{"group": object{"id": strings.ToUpper(group)}})}, knowledge.Access{Groups: []string{group}}},
		"a group of Microsoft 365":        {[]any{grant("write", login("c:0o.c|federateddirectoryclaimprovider|"+group))}, knowledge.Access{Groups: []string{group}}},
		"the owners of such a group":      {[]any{grant("owner", object{"group": object{"id": group}, "siteUser": object{"loginName": "c:0o.c|federateddirectoryclaimprovider|" + group + "_o"}})}, knowledge.Access{}},
		"all employees":                   {[]any{grant("read", login("c:0-.f|rolemanager|spo-grid-all-users/6e9f"))}, knowledge.Access{Workspace: true}},
		"everyone":                        {[]any{grant("read", login("c:0(.s|true"))}, knowledge.Access{Workspace: true}},
		"a link for the organisation":     {[]any{object{"roles": []string{"read"}, "link": object{"scope": "organization"}}}, knowledge.Access{Workspace: true}},
		"a link for anyone":               {[]any{object{"roles": []string{"read"}, "link": object{"scope": "anonymous"}}}, knowledge.Access{}},
		"a link for some":                 {[]any{object{"roles": []string{"read"}, "link": object{"scope": "users"}, "grantedToIdentitiesV2": []any{object{"user": object{"email": "eve@contoso.com"}}}}}, knowledge.Access{Users: []string{"eve@contoso.com"}}},
		"a role that does not read":       {[]any{grant("sp.limited access", sourcetest.MSUser("bob@contoso.com"))}, knowledge.Access{}},
		"a role with a name of people":    {[]any{grant("Lecture", sourcetest.MSUser("bob@contoso.com"))}, knowledge.Access{}},
		"a person without an address":     {[]any{grant("read", object{"user": object{"id": "5D33", "displayName": "bob@contoso.com"}})}, knowledge.Access{}},
		"a group of the site, unknown":    {[]any{grant("read", object{"siteGroup": object{"id": "5", "displayName": "Visitors"}})}, knowledge.Access{}},
		"an invitation that nobody took":  {[]any{object{"roles": []string{"read"}, "invitation": object{"email": "bob@gmail.com"}}}, knowledge.Access{}},
		"a right that has ended":          {[]any{object{"roles": []string{"read"}, "grantedToV2": sourcetest.MSUser("bob@contoso.com"), "expirationDateTime": "2020-01-01T00:00:00Z"}}, knowledge.Access{}},
		"a right with an end that is odd": {[]any{object{"roles": []string{"read"}, "grantedToV2": sourcetest.MSUser("bob@contoso.com"), "expirationDateTime": "tomorrow"}}, knowledge.Access{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
			g.Grants = func(int) []any { return c.grants }
			g.World.Create(0, "a.txt", false, "a")
			f := follow(g, library())
			f.Mirror = true
			if diff := cmp.Diff(&c.want, mustList(t, g, f).objects["a.txt"].Access); diff != "" {
				t.Errorf("access (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSiteGroups has a group of the site whose members change: no file changes with them.
func TestSiteGroups(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	f := follow(g, library())
	f.Mirror, f.Credentials = true, certify(t, g)
	g.Grants = func(int) []any {
		return []any{grant("read", object{"siteGroup": object{"id": "5", "displayName": "Besucher"}})}
	}
	g.SiteGroups = map[int][]string{5: {"i:0#.f|membership|bob@example.org", "c:0t.c|tenant|staff", `NT-Service\spsearch`}, 6: {"i:0#.f|membership|eve@example.org"}}
	g.World.Create(0, "a.txt", false, "a")
	first := mustList(t, g, f)
	wantAccess(t, first, &knowledge.Access{Users: []string{"bob@example.org"}, Groups: []string{"staff"}})
	f.Cursor = first.cursor
	g.Asked()
	if same := mustList(t, g, f); len(same.objects) != 0 || g.Asked() > 5 {
		t.Errorf("without a change it lists %v, or sends more than 5 requests", paths(same))
	}
	g.SiteGroups[5] = []string{"c:0t.c|tenant|staff"}
	wantAccess(t, mustList(t, g, f), &knowledge.Access{Groups: []string{"staff"}})
	f.Credentials, f.Cursor = g.Secret, "" // SharePoint refuses applications without a certificate
	wantAccess(t, mustList(t, g, f), &knowledge.Access{})
}

func wantAccess(t *testing.T, l listing, access *knowledge.Access) {
	t.Helper()
	if diff := cmp.Diff(access, l.objects["a.txt"].Access); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}

// TestEndingRight has a right with an end, which no change tells.
func TestEndingRight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
		ends := time.Now().Add(90 * time.Minute).UTC().Format(time.RFC3339)
		g.Grants = func(id int) []any {
			if id == 0 {
				return nil
			}
			return []any{object{"roles": []string{"read"}, "grantedToV2": login("i:0#.f|membership|bob@example.org"), "expirationDateTime": ends}}
		}
		g.World.Create(0, "a.txt", false, "a")
		f := follow(g, library())
		f.Mirror = true
		first := mustList(t, g, f)
		wantAccess(t, first, &knowledge.Access{Users: []string{"bob@example.org"}})
		f.Cursor = first.cursor
		time.Sleep(time.Hour)
		if early := mustList(t, g, f); len(early.objects) != 0 {
			t.Errorf("before the end it lists %v", paths(early))
		}
		time.Sleep(time.Hour)
		wantAccess(t, mustList(t, g, f), &knowledge.Access{})
	})
}

// TestRightsOfTheLibrary has the rights of the whole library change, of which Graph may tell
// nothing.
func TestRightsOfTheLibrary(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	who := "bob@example.org"
	g.Grants = func(int) []any { return []any{grant("read", login("i:0#.f|membership|"+who))} }
	g.World.Create(0, "a.txt", false, "a")
	f := follow(g, library())
	f.Mirror = true
	f.Cursor = mustList(t, g, f).cursor
	who = "eve@example.org"
	next := mustList(t, g, f)
	wantAccess(t, next, &knowledge.Access{Users: []string{"eve@example.org"}})
	if !next.full {
		t.Error("a part is listed")
	}
}

// TestMissingPermission has an application without the permission to read rights: it is told
// some of them only, so nothing is listed.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.World.Create(0, "a.txt", false, "a")
	g.Permit("Sites.Read.All")
	f := follow(g, library())
	want(t, mustList(t, g, f), "a.txt")
	f.Mirror = true
	l, err := list(t, g, f)
	if !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "please grant the application cairn-reader the application permission Sites.FullControl.All, GroupMember.Read.All, User.ReadBasic.All of Microsoft Graph") || len(l.objects) != 0 {
		t.Errorf("with mirror: %v, listed %v", err, paths(l))
	}
	g.Permit("Sites.FullControl.All", "Directory.Read.All")
	want(t, mustList(t, g, f), "a.txt")
	g.Permit("Sites.FullControl.All", "User.Read.All")
	if _, err := list(t, g, f); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "permission GroupMember.Read.All of") {
		t.Errorf("without the permission to read groups: %v", err)
	}
	g.Permit("User.Read.All")
	f.Mirror = false
	if _, err := list(t, g, f); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "Sites.Read.All") {
		t.Errorf("without a permission: %v", err)
	}
	if err := sharepoint.Try(t.Context(), f, sourcetest.Local(g)); !knowledge.IsCode(err, knowledge.CodeForbidden) {
		t.Errorf("the check: %v", err)
	}
}

// TestMembers has groups in groups, in a circle, and groups that Graph does not tell.
func TestMembers(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.World.Join("staff", "crew", "ann@example.org")
	g.World.Join("crew", "bob@example.org", "night", "eve@example.org")
	g.World.Join("night", "staff", "zoe@example.org")
	both := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, name+"@example.org", "upn."+name+"@example.org")
		}
		return source.Distinct(list)
	}
	directory := open(t, g, follow(g, library())).(source.Directory)
	members, complete, err := directory.Members(t.Context(), "staff")
	if diff := cmp.Diff(both("ann", "bob", "eve", "zoe"), members); diff != "" || !complete || err != nil {
		t.Errorf("complete %t, %v, members (-want +got):\n%s", complete, err, diff)
	}
	if _, _, err := directory.Members(t.Context(), "none"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("a group that is not there: %v", err)
	}
	g.Permit("GroupMember.Read.All") // Graph leaves the names of people out
	directory = open(t, g, follow(g, library())).(source.Directory)
	if members, complete, err := directory.Members(t.Context(), "staff"); len(members) > 0 || complete || err != nil {
		t.Errorf("without names: %v, complete %t, %v", members, complete, err)
	}
	g.Permit("Sites.FullControl.All")
	directory = open(t, g, follow(g, library())).(source.Directory)
	if _, _, err := directory.Members(t.Context(), "staff"); !knowledge.IsCode(err, knowledge.CodeForbidden) {
		t.Errorf("without the permission: %v", err)
	}
}

var (
	_ source.Source    = (*sharepoint.Source)(nil)
	_ source.Directory = (*sharepoint.Source)(nil)
)
