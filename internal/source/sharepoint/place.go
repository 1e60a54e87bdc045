package sharepoint

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// part is a part of a place: a library of a site, its pages, the files of a person, or a list.
type part struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"` // "" = it is the whole place
	Pages bool   `json:"pages,omitempty"`
	List  bool   `json:"list,omitempty"`
	Web   string `json:"web,omitempty"` // address of a list
}

// path returns the path of a drive.
func (d part) path() string { return "drives/" + escape(d.ID) + "/" }

// compareParts orders drives before lists, and both by their ids.
func compareParts(a, b part) int {
	if a.List != b.List {
		if a.List {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.ID, b.ID)
}

// list is a list of a site.
type list struct {
	ID     string `json:"id"`
	Name   string `json:"displayName"`
	WebURL string `json:"webUrl"`
	About  struct {
		Template string `json:"template"`
		Hidden   bool   `json:"hidden"`
	} `json:"list"`
}

// isTable reports whether a list has rows that people wrote.
func (l list) isTable() bool {
	return !l.About.Hidden && slices.Contains([]string{"genericList", "announcements", "contacts", "events", "issueTracking", "links", "tasks"}, l.About.Template)
}

// maxParts bounds the libraries and the lists of a site.
const maxParts = 1000

// place returns the parts of the scope in their order.
func (r *run) place(ctx context.Context) ([]part, error) {
	parts, err := r.parts(ctx)
	if err == nil && len(parts) == 0 {
		err = knowledge.Errorf(knowledge.CodeNotFound, "the site has no libraries, or the application may not see them")
	}
	slices.SortFunc(parts, compareParts)
	return parts, err
}

func (r *run) parts(ctx context.Context) ([]part, error) {
	scope := r.follow.Scope
	if scope.Site == "" {
		d := part{ID: scope.Drive}
		var err error
		if strings.Contains(scope.Drive, "@") {
			err = r.client.get(ctx, "users/"+escape(scope.Drive)+"/drive?$select=id", nil, &d)
		}
		return []part{d}, err
	}
	if r.at.Site == "" {
		if err := r.findSite(ctx); err != nil {
			return nil, err
		}
	}
	site := r.at.Site
	if scope.Drive == "" && scope.Folder != "" {
		var d part
		err := r.client.get(ctx, site+"drive?$select=id", nil, &d)
		return []part{d}, err
	}
	drives, err := all[part](ctx, r.client, site+"drives?$select=id,name", maxParts)
	if err != nil {
		return nil, err
	}
	if scope.Drive == "" {
		return r.withLists(ctx, site, drives)
	}
	n := slices.IndexFunc(drives, func(d part) bool { return d.ID == scope.Drive || strings.EqualFold(d.Name, scope.Drive) })
	if n < 0 {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the site has no library %q; check scope.drive of the sync", scope.Drive)
	}
	return []part{{ID: drives[n].ID}}, nil
}

// findSite notes the path and the address of the site of the scope.
func (r *run) findSite(ctx context.Context) error {
	at := escape(r.follow.Scope.Site)
	if u, err := url.Parse(r.follow.Scope.Site); err == nil && u.Host != "" {
		at = u.Host
		if path := strings.Trim(u.EscapedPath(), "/"); path != "" {
			at += ":/" + path
		}
	}
	var found struct {
		ID  string `json:"id"`
		Web string `json:"webUrl"`
	}
	err := r.client.get(ctx, "sites/"+at+"?$select=id,webUrl", nil, &found)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = knowledge.Errorf(knowledge.CodeNotFound, "there is no site %q, or the application may not see it; check scope.site of the sync", r.follow.Scope.Site)
	}
	r.at.Site, r.at.Next.Web = "sites/"+escape(found.ID)+"/", found.Web
	return err
}

// withLists adds the lists of a site to its libraries, and the drive of its pages.
func (r *run) withLists(ctx context.Context, site string, parts []part) ([]part, error) {
	lists, err := all[list](ctx, r.client, site+"lists?$select=id,displayName,webUrl,list", maxParts)
	if err != nil {
		return nil, err
	}
	for _, l := range lists {
		if l.isTable() {
			parts = append(parts, part{ID: l.ID, Name: l.Name, List: true, Web: l.WebURL})
		}
		if l.About.Template != "webPageLibrary" {
			continue
		}
		var d part
		if err := r.client.get(ctx, site+"lists/"+escape(l.ID)+"/drive?$select=id", nil, &d); err != nil {
			return nil, err
		}
		parts = slices.DeleteFunc(parts, func(other part) bool { return other.ID == d.ID })
		parts = append(parts, part{ID: d.ID, Name: l.Name, Pages: true})
	}
	return parts, nil
}

// scopeFolder returns the id of the folder of the scope, "" = there is none.
func (r *run) scopeFolder(ctx context.Context, d part) (string, error) {
	if r.follow.Scope.Folder == "" {
		return "", nil
	}
	var f item
	path := (&url.URL{Path: strings.Trim(r.follow.Scope.Folder, "/")}).EscapedPath()
	err := r.client.get(ctx, d.path()+"root:/"+strings.ReplaceAll(path, ":", "%3A")+"?$select=id,folder", nil, &f)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && f.Folder == nil {
		return "", knowledge.Errorf(knowledge.CodeNotFound, "there is no folder %q; check scope.folder of the sync, a path below the library such as Contracts/2026", r.follow.Scope.Folder)
	}
	return f.ID, err
}

// findWeb notes the address of the site of a drive that was named without its site: the
// members of groups are asked for there.
func (r *run) findWeb(ctx context.Context, parts []part) error {
	if r.at.Next.Web != "" || r.client.secret.certificate == nil || !r.follow.Mirror {
		return nil
	}
	var d struct {
		IDs struct {
			SiteURL string `json:"siteUrl"`
		} `json:"sharePointIds"`
	}
	err := r.client.get(ctx, "drives/"+escape(parts[0].ID)+"?$select=sharePointIds", nil, &d)
	r.at.Next.Web = d.IDs.SiteURL
	return err
}
