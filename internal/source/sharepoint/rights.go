package sharepoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// permission is a right of some people on an item.
type permission struct {
	Roles []string `json:"roles"`
	Link  *struct {
		Scope string `json:"scope"`
	} `json:"link"`
	To      *grantee  `json:"grantedToV2"`
	ToEach  []grantee `json:"grantedToIdentitiesV2"`
	Expires string    `json:"expirationDateTime"`
}

// grantee is somebody who has a right, as Entra and as SharePoint name him.
type grantee struct {
	User      *identity `json:"user"`
	Group     *identity `json:"group"`
	SiteUser  *identity `json:"siteUser"`
	SiteGroup *identity `json:"siteGroup"`
}

type identity struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Login string `json:"loginName"`
}

// maxPermissions bounds the rights of one item.
const maxPermissions = 5000

// permissions returns the rights on an item of a drive. What has gone, and what does not tell
// its rights, has none.
func (s *Source) permissions(ctx context.Context, d part, item string) ([]permission, error) {
	list, err := all[permission](ctx, s.client, d.path()+item+"/permissions", maxPermissions)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeForbidden) {
		return nil, nil
	}
	return list, err
}

// together is how many items are asked for their rights at a time.
const together = 4

// setAccess sets who may see objects of a drive.
func (r *run) setAccess(ctx context.Context, d part, objects []source.Object, items []string) error {
	rights := make([][]permission, len(items))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(r.together)
	for n, item := range items {
		group.Go(func() (err error) {
			rights[n], err = r.permissions(inner, d, "items/"+escape(item))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for n := range objects {
		var err error
		if objects[n].Access, err = r.access(ctx, rights[n]); err != nil {
			return err
		}
	}
	return nil
}

// access returns who has one of some rights.
func (r *run) access(ctx context.Context, list []permission) (*knowledge.Access, error) {
	a := &knowledge.Access{}
	for _, p := range list {
		if err := r.add(ctx, a, p); err != nil {
			return nil, err
		}
	}
	a.Users, a.Groups = source.Distinct(a.Users), source.Distinct(a.Groups)
	return a, nil
}

// add adds the people of a permission. Roles that do not read, links for anyone, and links
// that give nobody a right beside those who have it add nobody.
func (r *run) add(ctx context.Context, a *knowledge.Access, p permission) error {
	if !slices.ContainsFunc(p.Roles, func(role string) bool { return role == "read" || role == "write" || role == "owner" }) || r.expired(p) {
		return nil
	}
	if p.Link != nil {
		switch p.Link.Scope {
		case "organization":
			a.Workspace = true
		case "users":
		default:
			return nil
		}
	}
	if p.To != nil {
		p.ToEach = append(p.ToEach, *p.To)
	}
	for _, g := range p.ToEach {
		if err := r.addGrantee(ctx, a, g); err != nil {
			return err
		}
	}
	return nil
}

// expired reports whether a permission has ended. The run that follows the end of one that has
// not lists everything.
func (r *run) expired(p permission) bool {
	ends, err := time.Parse(time.RFC3339, p.Expires)
	if p.Expires == "" || err == nil && ends.Year() <= 1 { // it has no end
		return false
	}
	if err != nil || !ends.After(time.Now()) {
		return true
	}
	r.renew = min(r.renew, ends.Unix())
	return false
}

// addGrantee adds somebody who has a right: by the names that SharePoint signs him in with,
// which tell more than those of Entra, and by his mail address.
func (r *run) addGrantee(ctx context.Context, a *knowledge.Access, g grantee) error {
	if g.SiteGroup != nil {
		groups, err := r.siteGroups(ctx)
		if err != nil {
			return err
		}
		for _, login := range groups[g.SiteGroup.ID] {
			addClaim(a, login)
		}
		return nil
	}
	known := g.SiteUser != nil && addClaim(a, g.SiteUser.Login)
	switch {
	case g.User != nil && g.User.Email != "":
		a.Users = append(a.Users, strings.ToLower(g.User.Email))
	case !known && g.Group != nil && g.Group.ID != "":
		a.Groups = append(a.Groups, strings.ToLower(g.Group.ID))
	}
	return nil
}

// siteGroups returns the login names of the members of SharePoint's own groups of the site, by
// the ids of the groups. SharePoint tells them to an application that signs in with a
// certificate; without one nobody is in them.
func (r *run) siteGroups(ctx context.Context) (map[string][]string, error) {
	if r.groups != nil || r.client.secret.certificate == nil {
		return r.groups, nil
	}
	web, err := url.Parse(r.at.Next.Web)
	if err != nil || web.Host == "" {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "Microsoft Graph names no address of the site")
	}
	var answer struct {
		Value []struct {
			ID    int `json:"Id"`
			Users []struct {
				Login string `json:"LoginName"`
			} `json:"Users"`
		} `json:"value"`
	}
	address := strings.TrimSuffix(r.at.Next.Web, "/") + "/_api/web/sitegroups?$select=Id,Users/LoginName&$expand=Users"
	err = r.client.getFrom(ctx, web.Scheme+"://"+web.Host, address, http.Header{"Accept": {"application/json;odata=nometadata"}}, &answer)
	if knowledge.IsCode(err, knowledge.CodeForbidden) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "the application may not read the groups of the site. Send this to an administrator of Microsoft Entra: please grant the application %s "+
			"the application permission Sites.FullControl.All of SharePoint (beside that of Microsoft Graph), with admin consent", r.client.clientID)
	}
	if err != nil {
		return nil, err
	}
	r.groups = map[string][]string{}
	for _, g := range answer.Value {
		members := []string{}
		for _, u := range g.Users {
			members = append(members, u.Login)
		}
		r.groups[strconv.Itoa(g.ID)] = source.Distinct(members)
	}
	return r.groups, nil
}

// rightsAbove returns a hash of who may see the drives as wholes, and of the groups of the
// site: Graph does not tell all changes of these as changes of files.
func (r *run) rightsAbove(ctx context.Context, parts []part) (string, error) {
	groups, err := r.siteGroups(ctx)
	if err != nil {
		return "", err
	}
	above := map[string]any{"groups": groups}
	for _, d := range parts {
		if d.List {
			continue
		}
		list, err := r.permissions(ctx, d, "root")
		if err != nil {
			return "", err
		}
		if above[d.ID], err = r.access(ctx, list); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(above)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
