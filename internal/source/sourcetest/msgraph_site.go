package sourcetest

import (
	"net/http"
	"strconv"
	"strings"
)

// site answers a request for a part of the site, or for the drive of a person.
func (g *MSGraph) site(w http.ResponseWriter, r *http.Request, path string) {
	rest, inside := strings.CutPrefix(path, "sites/"+msSite+"/")
	host, _, _ := strings.Cut(r.Host, ":")
	switch {
	case path == "applications(appId='"+MSClient+"')" && g.has("Application.Read.All"):
		answer(w, map[string]any{"passwordCredentials": []any{
			map[string]any{"hint": g.Secret[:3], "endDateTime": g.SecretEnds}, map[string]any{"hint": "oth", "endDateTime": g.SecretEnds.AddDate(0, 0, -1)},
		}})
	case path == "users/ann@example.org/drive":
		answer(w, map[string]string{"id": MSDrive, "driveType": "business"})
	case path == "sites/"+r.Host+":/sites/legal" || path == "sites/"+host+":/sites/legal" || path == "sites/"+msSite:
		answer(w, map[string]string{"id": msSite, "webUrl": "http://" + r.Host + "/sites/legal"})
	case !inside:
		graphError(w, http.StatusNotFound, "itemNotFound")
	case rest == "drive":
		answer(w, map[string]string{"id": MSDrive})
	case rest == "drives":
		answer(w, map[string]any{"value": []any{map[string]string{"id": MSDrive, "name": "Dokumente"}}})
	case rest == "lists":
		answer(w, map[string]any{"value": g.lists()})
	case rest == "lists/"+msPageList+"/drive":
		answer(w, map[string]string{"id": MSPages})
	case strings.HasPrefix(rest, "lists/"):
		g.list(w, strings.TrimPrefix(rest, "lists/"))
	case strings.HasPrefix(rest, "pages/"):
		g.page(w, strings.TrimPrefix(rest, "pages/"))
	default:
		graphError(w, http.StatusNotFound, "itemNotFound")
	}
}

func (g *MSGraph) lists() []any {
	kind := func(id, name, template string, hidden bool) any {
		return map[string]any{"id": id, "displayName": name, "webUrl": "http://contoso.sharepoint.test/lists/" + id, "list": map[string]any{"template": template, "hidden": hidden}}
	}
	list := []any{kind("list-of-files", "Dokumente", "documentLibrary", false), kind("list-of-users", "User Information List", "genericList", true)}
	if g.Pages != nil {
		list = append(list, kind(msPageList, "Websiteseiten", "webPageLibrary", false))
	}
	for _, l := range g.Lists {
		list = append(list, kind(l.ID, l.Name, "genericList", false))
	}
	return list
}

func (g *MSGraph) list(w http.ResponseWriter, path string) {
	id, part, _ := strings.Cut(path, "/")
	for _, l := range g.Lists {
		if l.ID != id {
			continue
		}
		list := []any{}
		if part == "columns" {
			list = append(list, map[string]any{"name": "ID", "displayName": "ID", "readOnly": true}, map[string]any{"name": "ContentType", "displayName": "Inhaltstyp"})
			for n, title := range l.Columns {
				list = append(list, map[string]any{"name": "field_" + strconv.Itoa(n), "displayName": title})
			}
		}
		for n, row := range l.Rows {
			if part != "items" {
				break
			}
			fields := map[string]any{"ID": n}
			for c, text := range row {
				fields["field_"+strconv.Itoa(c)] = text
			}
			list = append(list, map[string]any{"id": strconv.Itoa(n), "fields": fields})
		}
		answer(w, map[string]any{"value": list})
		return
	}
	graphError(w, http.StatusNotFound, "itemNotFound")
}

// page answers a request for a page, whose text is that of its file. A page of which the text
// begins with "draft" is one.
func (g *MSGraph) page(w http.ResponseWriter, path string) {
	text, _, _ := strings.Cut(path, "-")
	id, err := strconv.Atoi(text)
	if err != nil || g.Pages == nil || !strings.HasSuffix(path, "/microsoft.graph.sitePage") {
		graphError(w, http.StatusNotFound, "itemNotFound")
		return
	}
	i, there := g.Pages.Item(id)
	if !there {
		graphError(w, http.StatusNotFound, "itemNotFound")
		return
	}
	level := "published"
	if strings.HasPrefix(i.Content, "draft") {
		level = "draft"
	}
	answer(w, map[string]any{
		"title": strings.TrimSuffix(i.Name, ".aspx") + " & more", "publishingState": map[string]string{"level": level},
		"canvasLayout": map[string]any{"horizontalSections": []any{map[string]any{"columns": []any{map[string]any{"webparts": []any{
			map[string]string{"@odata.type": "#microsoft.graph.standardWebPart"}, map[string]string{"@odata.type": "#microsoft.graph.textWebPart", "innerHtml": "<p>" + i.Content + "</p>"},
		}}}}}},
	})
}
