package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/client"
)

// signInAs signs a browser in with a key, on a page.
func (s *server) signInAs(t *testing.T, page context.Context, key, path string) {
	t.Helper()
	open(t, page, s.ends.API+path)
	do(t, page, chromedp.SendKeys(`dialog input`, key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!document.querySelector("dialog") && !!document.querySelector("main > *")`)
}

// tabsOnPage are the tabs of the pages of people and rights.
const tabsOnPage = `[...document.querySelectorAll(".parts a")].map(a => a.textContent).join("|")`

// typeInto writes a text into a field of the dialog or the page in the place of what it has.
func typeInto(t *testing.T, page context.Context, name, text string) {
	t.Helper()
	field := fmt.Sprintf(`(document.querySelector("dialog") ?? document.querySelector("main")).querySelector('[name=%q]')`, name)
	awaitPage(t, page, fmt.Sprintf(`(() => { const f = %s; if (!f) return false; f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return f.value === %q; })()`, field, text, text))
}

// TestConsoleMembers adds a person and a program on the page, changes one, makes a key for the
// other, and removes both by their names.
func TestConsoleMembers(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	click(t, page, `[...document.querySelectorAll("nav a")].find(a => a.textContent === "Access")`)
	awaitPage(t, page, `location.pathname === "/members" && document.querySelector(".empty:not([hidden])")?.textContent.startsWith("Nobody yet")`)
	if got := evaluate[string](t, page, tabsOnPage); got != "People|Roles|Grants|Legal holds|Retention|Audit" {
		t.Errorf("the tabs are %s", got)
	}
	wantLooks(t, page)
	const hostile = `<img src=x onerror=ran=1>`
	press(t, page, "Add somebody")
	typeInto(t, page, "user", hostile)
	click(t, page, `document.querySelector('dialog input[value="editor"]')`)
	typeInto(t, page, "groups", "legal, press")
	typeInto(t, page, "clearance", "confidential")
	typeInto(t, page, "project", "default")
	wantLooks(t, page)
	press(t, page, "Add somebody")
	awaitPage(t, page, `location.pathname.startsWith("/members/%3Cimg") && document.querySelector("h2")?.textContent === "`+hostile+`"`)
	m, err := s.Member(t.Context(), hostile)
	if err != nil || fmt.Sprintf("%v %v %s %s %v", m.Roles, m.Groups, m.Clearance, m.ProjectID, m.ExpiresAt) != "[editor] [legal press] confidential default <nil>" {
		t.Errorf("the member is %+v, %v", m, err)
	}
	isText(t, page, hostile)
	wantLooks(t, page)
	click(t, page, `document.querySelector('main input[value="reader"]')`)
	click(t, page, `document.querySelector('main input[value="editor"]')`)
	typeInto(t, page, "ends", "2030-05-06T07:08:09")
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector("form [role=status]").textContent === "Saved."`)
	if m, err = s.Member(t.Context(), hostile); err != nil || fmt.Sprintf("%v %v %s", m.Roles, m.Groups, m.ProjectID) != "[reader] [legal press] default" || m.ExpiresAt == nil || m.ExpiresAt.Second() != 9 {
		t.Errorf("the changed member is %+v, %v", m, err)
	}
	s.removeOnPage(t, page, hostile)
	if _, err := s.Member(t.Context(), hostile); err == nil {
		t.Error("the member is still there")
	}

	press(t, page, "Add somebody")
	typeInto(t, page, "user", "nightly report")
	typeInto(t, page, "kind", "service")
	click(t, page, `document.querySelector('dialog input[value="reader"]')`)
	press(t, page, "Add somebody")
	awaitPage(t, page, `document.querySelector("h2")?.textContent === "nightly report"`)
	typeInto(t, page, "key", "cron")
	press(t, page, "New key")
	awaitPage(t, page, `!!document.querySelector("dialog .once")`)
	key := evaluate[string](t, page, `document.querySelector("dialog .once").textContent`)
	press(t, page, "Close")
	awaitPage(t, page, `document.querySelector("section li")?.textContent.startsWith("cron")`)
	wantLooks(t, page)
	if status := s.asWhom(t, key); status != http.StatusOK {
		t.Errorf("the key of the program: status %d", status)
	}
	s.removeOnPage(t, page, "nightly report")
	if status := s.asWhom(t, key); status != http.StatusUnauthorized {
		t.Errorf("the key of the program that was removed: status %d", status)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// removeOnPage removes the member of the page, after its name was typed.
func (s *server) removeOnPage(t *testing.T, page context.Context, name string) {
	t.Helper()
	press(t, page, "Remove")
	awaitPage(t, page, `document.querySelector("dialog button.first")?.disabled`)
	do(t, page, chromedp.SendKeys(`dialog input`, name, chromedp.ByQuery))
	press(t, page, "Remove")
	awaitPage(t, page, `location.pathname === "/members" && !!document.querySelector(".empty:not([hidden])")`)
}

// TestConsoleMembersOfAProvider shows a person whom SCIM has deactivated beside one who is signed
// in, and ends the session of that one alone.
func TestConsoleMembersOfAProvider(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := withProvider(t)
	thrown := thrownIn(page)
	token := s.scimToken(t)
	gone, ann := s.provisionUser(t, token, "gone"), s.provisionUser(t, token, "ann")
	s.provision(t, token, "POST", "/Groups", fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"keepers","members":[{"value":%q}]}`, ann))
	s.provision(t, token, "PATCH", "/Users/"+gone, fmt.Sprintf(scimPatch, `{"op":"replace","value":{"active":false}}`))
	hers, _ := s.signInAt(t, "ann")
	his, _ := s.signInAt(t, "bob")
	s.signInAs(t, page, s.key, "/members")
	awaitPage(t, page, `document.querySelectorAll("tbody tr").length === 2`)
	rows := evaluate[string](t, page, `[...document.querySelectorAll("tbody tr")].map(r => [...r.cells].slice(0, 5).map(c => c.textContent).join("|")).join(";")`)
	if want := "ann|reader|active|All projects|from the identity provider: keepers;gone|reader|deactivated by the identity provider|All projects|"; rows != want {
		t.Errorf("the rows are\n%s, want\n%s", rows, want)
	}
	wantLooks(t, page)
	do(t, page, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `location.pathname === "/members/ann" && document.querySelectorAll("tbody tr").length === 1`)
	wantLooks(t, page)
	click(t, page, `document.querySelector("tbody button")`)
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "End")
	awaitPage(t, page, `document.querySelectorAll("tbody tr").length === 0`)
	for browser, want := range map[*http.Client]int{hers: http.StatusUnauthorized, his: http.StatusOK} {
		if status := s.call(t, "GET", "/workspaces/default/documents", nil, nil, s.as(t, browser)...); status != want {
			t.Errorf("documents: status %d, want %d", status, want)
		}
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleRoles makes a role as somebody who has few rights himself: he sees the pages that are
// for him, and cannot give what he lacks. An administrator can.
func TestConsoleRoles(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	keeper := s.newKey(t, map[string]any{"name": "keeper", "permissions": []string{"roles.read", "roles.write", "permissions.read", "documents.read", "projects.read", "sessions.own", "members.read", "conversations.write", "questions.ask", "runs.read"}})
	s.signInAs(t, page, keeper, "/roles")
	const box = `document.querySelector('input[aria-label="%s: %s"]')`
	awaitPage(t, page, "!!"+fmt.Sprintf(box, "admin", "keys.write"))
	if got := evaluate[string](t, page, tabsOnPage); got != "People|Roles" {
		t.Errorf("the tabs of a keeper are %s", got)
	}
	if evaluate[bool](t, page, `[...document.querySelectorAll('input[aria-label^="admin: "]')].some(b => !b.disabled)`) {
		t.Error("a role of every workspace can be changed")
	}
	wantLooks(t, page)
	press(t, page, "New role")
	typeInto(t, page, "role", "lamplighter")
	typeInto(t, page, "like", "editor")
	press(t, page, "New role")
	awaitPage(t, page, `document.querySelector(".rights [role=status]").textContent === "lamplighter is saved."`)
	for permission, want := range map[string]string{"documents.read": "true false", "roles.write": "false false", "documents.write": "false true", "keys.write": "false true"} {
		got := evaluate[string](t, page, fmt.Sprintf(`((b) => b.checked + " " + b.disabled)(`+box+`)`, "lamplighter", permission))
		if got != want {
			t.Errorf("the box of %s is checked and disabled: %s, want %s", permission, got, want)
		}
	}
	if reason := evaluate[string](t, page, fmt.Sprintf(box, "lamplighter", "keys.write")+`.closest("tr").cells[0].textContent`); !strings.Contains(reason, "You lack it yourself") {
		t.Errorf("the row says %s", reason)
	}
	click(t, page, fmt.Sprintf(box, "lamplighter", "documents.read"))
	click(t, page, fmt.Sprintf(box, "lamplighter", "roles.read"))
	press(t, page, "Save: lamplighter")
	awaitPage(t, page, `document.querySelector("button[aria-label='Save: lamplighter']")?.disabled && !`+fmt.Sprintf(box, "lamplighter", "documents.read")+`.checked`)
	s.wantRole(t, "lamplighter", true, "roles.read", "documents.read")

	evaluate[int](t, page, `fetch("/auth/session", {method: "DELETE"}).then(r => r.status)`)
	s.signInAs(t, page, s.key, "/roles")
	awaitPage(t, page, "!!"+fmt.Sprintf(box, "lamplighter", "keys.write"))
	click(t, page, fmt.Sprintf(box, "lamplighter", "keys.write"))
	press(t, page, "Save: lamplighter")
	awaitPage(t, page, fmt.Sprintf(box, "lamplighter", "keys.write")+`?.checked && document.querySelector("button[aria-label='Save: lamplighter']")?.disabled`)
	s.wantRole(t, "lamplighter", true, "keys.write", "documents.read")
	press(t, page, "Remove: lamplighter")
	do(t, page, chromedp.SendKeys(`dialog input`, "lamplighter", chromedp.ByQuery))
	press(t, page, "Remove")
	awaitPage(t, page, "!document.querySelector('dialog') && !"+fmt.Sprintf(box, "lamplighter", "keys.write"))
	s.wantRole(t, "lamplighter", false, "", "")
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// wantRole waits until a role has a permission and lacks another one, or until there is none: a
// button is disabled while it saves too.
func (s *server) wantRole(t *testing.T, name string, there bool, with, without string) {
	t.Helper()
	await(t, time.Minute, "the role "+name+" is saved", func(ctx context.Context) error {
		roles, err := s.Roles(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(roles.Data, func(r client.Role) bool { return r.Name == name })
		if (i >= 0) != there {
			return fmt.Errorf("the roles are %+v", roles.Data)
		}
		if there && (!slices.Contains(roles.Data[i].Permissions, with) || slices.Contains(roles.Data[i].Permissions, without)) {
			return fmt.Errorf("the role may %s", roles.Data[i].Permissions)
		}
		return nil
	})
}

// TestConsoleAccessIsForWhoMay signs a reader in, who has no link to people and rights, and whose
// address of them says why there is nothing.
func TestConsoleAccessIsForWhoMay(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	reader := s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})
	auditor := s.newKey(t, map[string]any{"name": "auditor", "role": "auditor"})
	const link = `[...document.querySelectorAll("nav a")].some(a => a.textContent === "Access")`
	for _, who := range []struct {
		key  string
		sees bool
		tabs string
	}{{reader, false, ""}, {auditor, true, "People|Roles|Grants|Legal holds|Audit"}, {s.key, true, "People|Roles|Grants|Legal holds|Retention|Audit"}} {
		s.signInAs(t, page, who.key, "/holds")
		if sees := evaluate[bool](t, page, link); sees != who.sees {
			t.Errorf("%s sees the link: %t", who.tabs, sees)
		}
		if got := evaluate[string](t, page, tabsOnPage); got != who.tabs {
			t.Errorf("the tabs are %s, want %s", got, who.tabs)
		}
		if changes := evaluate[bool](t, page, `[...document.querySelectorAll("main button")].some(b => b.textContent === "Place a hold")`); changes != (who.key == s.key) {
			t.Errorf("%s may place holds: %t", who.tabs, changes)
		}
		evaluate[int](t, page, `fetch("/auth/session", {method: "DELETE"}).then(r => r.status)`)
	}
}
