package sourcetest

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // Git names objects by it
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Git is a fake of a server of Git's protocol, version 2, with one repository: each state of
// a world that a client sees is a commit without parents, as after a forced push. Set its
// fields before it serves.
type Git struct {
	World    *World
	Username string
	Password string
	// Filters reports that trees are sent without files, if a client asks for that.
	Filters bool

	mu      sync.Mutex
	objects map[string]gitObject // by name
	zip     *zlib.Writer         // making one takes long
}

// gitObject is an object of a repository.
type gitObject struct {
	kind byte
	data string
	refs []string // names of the objects that belong to it
}

// The kinds of objects, as packs have them.
const (
	gitCommit = 1
	gitTree   = 2
	gitBlob   = 3
)

// GitPath is the path of the repository of a Git.
const GitPath = "/lighthouse.git"

// NewGit returns a server of a world.
func NewGit(w *World) *Git {
	return &Git{World: w, Username: "ann", Password: "token", Filters: true, objects: map[string]gitObject{}, zip: zlib.NewWriter(nil)}
}

// Expire forgets all commits but the newest one, as after a forced push and a collection of
// garbage.
func (g *Git) Expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.objects)
}

// ServeHTTP implements http.Handler.
func (g *Git) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if user, password, ok := r.BasicAuth(); !ok || user != g.Username || password != g.Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Header.Get("Git-Protocol") != "version=2" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch r.Method + r.URL.Path {
	case "GET" + GitPath + "/info/refs":
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		features := "fetch=shallow"
		if g.Filters {
			features += " filter"
		}
		put(w, "%s0000%s%s%s%s0000", packet("# service=git-upload-pack\n"), packet("version 2\n"), packet("ls-refs\n"), packet(features+"\n"), packet("object-format=sha1\n"))
	case "POST" + GitPath + "/git-upload-pack":
		g.command(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// packet returns a line as a packet.
func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// command answers ls-refs and fetch.
func (g *Git) command(w http.ResponseWriter, r *http.Request) {
	lines, err := packetsOf(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	head := g.snapshot()
	if slices.Contains(lines, "command=ls-refs") {
		put(w, "%s%s0000", packet(head+" HEAD\n"), packet(head+" refs/heads/main\n"))
		return
	}
	var names []string
	trees := slices.Contains(lines, "deepen 1")
	for _, line := range lines {
		want, ok := strings.CutPrefix(line, "want ")
		if !ok {
			continue
		}
		if _, there := g.objects[want]; !there {
			put(w, "%s", packet("ERR upload-pack: not our ref "+want))
			return
		}
		names = append(names, want)
	}
	if trees {
		put(w, "%s0001", packet("shallow-info\n"))
	}
	put(w, "%s", packet("packfile\n"))
	pack := g.pack(names, slices.Contains(lines, "filter blob:none"))
	for part := range slices.Chunk(pack, 1000) {
		put(w, "%s", packet("\x01"+string(part)))
		put(w, "%s", packet("\x02counting\n"))
	}
	put(w, "0000")
}

// packetsOf returns the lines of a request.
func packetsOf(r io.Reader) (lines []string, err error) {
	in := bufio.NewReader(r)
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return lines, err
		}
		n, err := strconv.ParseInt(string(head), 16, 32)
		if err != nil || n == 0 {
			return lines, err
		}
		line := make([]byte, max(n-4, 0))
		if _, err := io.ReadFull(in, line); err != nil {
			return lines, err
		}
		lines = append(lines, strings.TrimSuffix(string(line), "\n"))
	}
}

// snapshot makes the commit of the world as it is now, and returns its name.
func (g *Git) snapshot() string {
	files := map[string]string{}
	for _, e := range g.World.Files() {
		files[e.Path] = e.Content
	}
	tree := g.tree(files)
	return g.store(gitObject{kind: gitCommit, data: "tree " + tree + "\nauthor Ann <ann@example.org> 0 +0000\n\nlight\n", refs: []string{tree}})
}

// tree makes the tree of files by their paths below it. It also has a link and another
// repository, which no follower reads.
func (g *Git) tree(files map[string]string) string {
	folders, names, blobs := map[string]map[string]string{}, map[string]string{}, map[string]string{}
	for path, content := range files {
		if folder, rest, nested := strings.Cut(path, "/"); nested {
			if folders[folder] == nil {
				folders[folder] = map[string]string{}
			}
			folders[folder][rest] = content
			continue
		}
		blobs[path] = g.store(gitObject{kind: gitBlob, data: content})
		names[path] = "100644 " + path + "\x00" + blobs[path]
	}
	o := gitObject{kind: gitTree}
	for folder, below := range folders {
		blobs[folder] = g.tree(below)
		names[folder+"/"] = "40000 " + folder + "\x00" + blobs[folder]
	}
	link := g.store(gitObject{kind: gitBlob, data: "elsewhere"})
	names["~link"], names["~module"] = "120000 ~link\x00"+link, "160000 ~module\x00"+strings.Repeat("ab", sha1.Size)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		entry, object, _ := strings.Cut(names[name], "\x00")
		raw, err := hex.DecodeString(object)
		if err != nil {
			panic(err) // of a name that was just made
		}
		o.data += entry + "\x00" + string(raw)
	}
	for _, name := range blobs {
		o.refs = append(o.refs, name)
	}
	o.refs = append(o.refs, link)
	return g.store(o)
}

// store keeps an object, and returns its name.
func (g *Git) store(o gitObject) string {
	word := map[byte]string{gitCommit: "commit", gitTree: "tree", gitBlob: "blob"}[o.kind]
	sum := sha1.Sum([]byte(fmt.Sprintf("%s %d\x00%s", word, len(o.data), o.data))) //nolint:gosec // Git names objects by it
	name := hex.EncodeToString(sum[:])
	g.objects[name] = o
	return name
}

// pack returns objects with all that belongs to them.
func (g *Git) pack(names []string, withoutFiles bool) []byte {
	done := map[string]bool{}
	var body bytes.Buffer
	for len(names) > 0 {
		name := names[0]
		o := g.objects[name]
		wanted := o.kind != gitBlob || !withoutFiles
		if names = names[1:]; done[name] || !wanted {
			continue
		}
		done[name] = true
		names = append(names, o.refs...)
		size := len(o.data)
		first := o.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			body.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		body.WriteByte(first)
		g.zip.Reset(&body)
		_, _ = io.WriteString(g.zip, o.data) // memory takes everything
		_ = g.zip.Close()
	}
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(done)))
	pack := slices.Concat(head, body.Bytes())
	sum := sha1.Sum(pack) //nolint:gosec // Git ends packs with it
	return append(pack, sum[:]...)
}
