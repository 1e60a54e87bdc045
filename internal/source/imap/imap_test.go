package imap_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/imap"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/throttle"
)

// files is a mailbox whose messages are the files of a world.
type files struct{ source.Source }

// List implements source.Source.
func (f files) List(ctx context.Context, token string) (source.Page, error) {
	page, err := f.Source.List(ctx, token)
	for n := range page.Objects {
		page.Objects[n].Name = strings.TrimSuffix(page.Objects[n].Name, ".eml")
	}
	return page, err
}

// Open implements source.Source.
func (f files) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	r, now, err := f.Source.Open(ctx, o, known)
	if err != nil {
		return nil, now, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, now, err
	}
	_, content, _ := strings.Cut(string(data), "\r\n\r\n")
	return io.NopCloser(strings.NewReader(content)), now, nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	sourcetest.Follow(t, sourcetest.Scripts(), func(sequences bool) sourcetest.Place {
		world := sourcetest.NewWorld("ann@example.org")
		fake := sourcetest.NewIMAP(world)
		fake.Sequences = sequences
		return sourcetest.Place{
			World: world, Flat: true, Expire: fake.Renumber,
			Connect: func(fault func() int, cursor string) (source.Source, error) {
				f := place(cursor)
				f.PageSize = 3
				return files{imap.Plain(imap.New(f, fake.Dialer(fault), throttle.NewGate(time.Time{}, nil), nil))}, nil
			},
		}
	})
}

// place is the mailbox of a fake.
func place(cursor string) source.Follow {
	return source.Follow{
		Type: source.TypeIMAP, Options: source.Settings{URL: "imaps://imap.test", Username: "ann"}, Credentials: "app-password", Cursor: cursor,
	}
}

// open returns the source of a fake without faults.
func open(fake *sourcetest.IMAP, f source.Follow) *imap.Source {
	return imap.Plain(imap.New(f, fake.Dialer(nil), throttle.NewGate(time.Time{}, nil), nil))
}

// run lists what has changed since a cursor, and returns the objects by their names and the
// last page.
func run(t *testing.T, fake *sourcetest.IMAP, cursor string) (objects map[string]source.Object, last source.Page) {
	t.Helper()
	s := open(fake, place(cursor))
	objects = map[string]source.Object{}
	for token := ""; ; token = last.Next {
		var err error
		if last, err = s.List(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		for _, o := range last.Objects {
			objects[o.Name] = o
		}
		if last.Next == "" {
			return objects, last
		}
	}
}

// TestRuns follows a mailbox over the changes that it can have.
func TestRuns(t *testing.T) {
	t.Parallel()
	for _, sequences := range []bool{true, false} {
		t.Run(fmt.Sprintf("sequences %v", sequences), func(t *testing.T) {
			t.Parallel()
			world := sourcetest.NewWorld("ann")
			fake := sourcetest.NewIMAP(world)
			fake.Sequences = sequences
			lamp, horn := world.Create(0, "The lamp", false, "It is lit."), world.Create(0, "Grüße/Wünsche", false, "Tuut.")
			first, last := run(t, fake, "")
			if len(first) != 2 || !last.Full || first["Grüße_Wünsche.eml"].MediaType != "message/rfc822" {
				t.Fatalf("listed are %v", first)
			}
			fake.Commands()
			if list, now := run(t, fake, last.Cursor); len(list) > 0 || now.Full || now.Cursor != last.Cursor || fake.Commands() > 4 {
				t.Errorf("an unchanged mailbox has %v", list)
			}
			fake.Flag(lamp, `\Flagged`, `\Seen`, "Important", "$Junk")
			world.Create(0, "The third", false, "News.")
			list, last := run(t, fake, last.Cursor)
			if (len(list) == 2) != sequences || last.Full == sequences || list["The third.eml"].Key == "" {
				t.Errorf("after a new message and a flag, %v are listed", list)
			}
			if diff := cmp.Diff([]string{"Important", "flagged", first["The lamp.eml"].Tags[0]}, list["The lamp.eml"].Tags); diff != "" {
				t.Error(diff)
			}
			fake.Flag(horn, `\Deleted`)
			if list, last = run(t, fake, last.Cursor); len(list) != 2 || !last.Full || list["The lamp.eml"].Key != first["The lamp.eml"].Key {
				t.Errorf("after a message was marked as deleted, %v are listed", list)
			}
			fake.Renumber()
			if list, last = run(t, fake, last.Cursor); len(list) != 2 || !last.Full || list["The lamp.eml"].Key != first["The lamp.eml"].Key || list["The lamp.eml"].ETag != first["The lamp.eml"].ETag {
				t.Errorf("after a renumbering, %v are listed", list)
			}
			world.Delete(lamp)
			if list, last = run(t, fake, last.Cursor); len(list) != 1 || !last.Full {
				t.Errorf("after a message was removed, %v are listed", list)
			}
		})
	}
}

// TestSignIn has users that the server knows, and others.
func TestSignIn(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewIMAP(sourcetest.NewWorld("ann"))
	try := func(change func(*source.Follow)) error {
		f := place("")
		change(&f)
		_, err := open(fake, f).List(t.Context(), "")
		return err
	}
	if err := try(func(*source.Follow) {}); err != nil {
		t.Errorf("a password: %v", err)
	}
	if err := try(func(f *source.Follow) { f.Options.Auth = "xoauth2" }); err != nil {
		t.Errorf("a token: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*source.Follow)
		code   knowledge.Code
		says   string
	}{
		"a wrong password":             {func(f *source.Follow) { f.Credentials = "x" }, knowledge.CodeForbidden, "options.username"},
		"a wrong token":                {func(f *source.Follow) { f.Options.Auth, f.Credentials = "xoauth2", "x" }, knowledge.CodeForbidden, "xoauth2"},
		"no such mailbox":              {func(f *source.Follow) { f.Scope.Mailbox = "None" }, knowledge.CodeNotFound, "scope.mailbox"},
		"a mailbox with other letters": {func(f *source.Follow) { f.Scope.Mailbox = "Grüße" }, knowledge.CodeNotFound, "Grüße"},
	} {
		if err := try(c.change); !knowledge.IsCode(err, c.code) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTLS has servers that offer no TLS, or not the one that was asked for.
func TestTLS(t *testing.T) {
	t.Parallel()
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			line := make([]byte, 4096)
			n, _ := server.Read(line)
			_, _ = fmt.Fprint(server, "* OK ready\r\n")
			if tag, _, _ := strings.Cut(string(line[:n]), " "); strings.Contains(string(line[:n]), "STARTTLS") {
				_, _ = fmt.Fprintf(server, "%s BAD unknown command\r\n", tag)
			}
		}()
		return client, nil
	}
	f := place("")
	f.Options.URL = "imap://imap.test"
	if err := imap.Try(t.Context(), f, dial, throttle.NewGate(time.Time{}, nil), nil); !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), "imaps") {
		t.Errorf("a server without TLS: %v", err)
	}
	f.Options.URL = "imaps://imap.test"
	if err := imap.Try(t.Context(), f, dial, throttle.NewGate(time.Time{}, nil), nil); !knowledge.IsCode(err, knowledge.CodeUnavailable) {
		t.Errorf("a server without TLS at the port of TLS: %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := place("")
	if err := imap.CheckConnection(good); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*source.Follow){
		"options.url":      func(f *source.Follow) { f.Options.URL = "https://imap.test" },
		"options.username": func(f *source.Follow) { f.Options.Username = "" },
		"options.auth":     func(f *source.Follow) { f.Options.Auth = "plain" },
		"secret":           func(f *source.Follow) { f.Credentials = "" },
	} {
		f := good
		change(&f)
		if err := imap.CheckConnection(f); !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), "body."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := imap.CheckScope(source.Follow{Scope: source.Scope{Mailbox: "a\r\nb"}}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("a mailbox of two lines: %v", err)
	}
}
