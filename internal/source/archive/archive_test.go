package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/archive"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// file is a file of an archive that a test builds.
type file struct {
	zip.FileHeader
	body string
	raw  bool // body is stored as it is, with the sizes of the header
}

func named(name, body string) file {
	return file{FileHeader: zip.FileHeader{Name: name, Method: zip.Deflate}, body: body}
}

// pack returns an archive.
func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		create := w.CreateHeader
		if f.raw {
			create = w.CreateRaw
		}
		out, err := create(&f.FileHeader)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if _, err := io.WriteString(out, f.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t *testing.T, data []byte) *archive.Source {
	t.Helper()
	s, err := archive.New(section(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func section(data []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
}

// outcomes returns the text of each file by key, or the code of its error.
func outcomes(t *testing.T, s source.Source) map[string]string {
	t.Helper()
	objects, _ := sourcetest.All(t, func() source.Source { return s })
	result := map[string]string{}
	for _, o := range objects {
		if _, twice := result[o.Key]; twice {
			t.Errorf("two files have the key %q", o.Key)
		}
		result[o.Key] = outcome(t, s, o)
	}
	return result
}

func outcome(t *testing.T, s source.Source, o source.Object) string {
	t.Helper()
	body, _, err := s.Open(t.Context(), o, "")
	var text []byte
	if err == nil {
		defer body.Close()
		text, err = io.ReadAll(body)
	}
	if e, ok := errors.AsType[*knowledge.Error](err); ok {
		if e.Message == "" || e.Retryable {
			t.Errorf("%s: got error %+v", o.Key, e)
		}
		return "! " + string(e.Code)
	} else if err != nil {
		t.Errorf("%s: got error %v, want a *knowledge.Error", o.Key, err)
	}
	return string(text)
}

func want(t *testing.T, data []byte, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, outcomes(t, open(t, data))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	data := pack(t, named("a.txt", "a"), named("folder/", ""), named("folder/b.txt", "bb"), named("./x//y.txt", "y"), named(`win\c.txt`, "c"),
		named("__MACOSX/._a.txt", "x"), named(".DS_Store", "x"), named("empty.txt", ""))
	want(t, data, map[string]string{"a.txt": "a", "folder/b.txt": "bb", "x/y.txt": "y", "win/c.txt": "c", "empty.txt": ""})
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	link := named("link.txt", "/etc/passwd")
	link.SetMode(fs.ModeSymlink | 0o777)
	device := named("device", "")
	device.SetMode(fs.ModeDevice)
	encrypted := named("encrypted.txt", "x")
	encrypted.Flags, encrypted.raw, encrypted.UncompressedSize64, encrypted.CompressedSize64 = 1, true, 1, 1
	unknown := named("lzma.txt", "x")
	unknown.Method, unknown.raw, unknown.UncompressedSize64, unknown.CompressedSize64 = 14, true, 1, 1
	damaged := named("damaged.txt", "\xff\xff\xff")
	damaged.raw, damaged.UncompressedSize64, damaged.CompressedSize64 = true, 9, 3
	checksum := named("checksum.txt", "abc")
	checksum.Method, checksum.raw, checksum.UncompressedSize64, checksum.CompressedSize64, checksum.CRC32 = zip.Store, true, 3, 3, 1
	longer := named("longer.txt", "abc")
	longer.Method, longer.raw, longer.UncompressedSize64, longer.CompressedSize64 = zip.Store, true, 1, 3
	data := pack(t, named("first.txt", "1"),
		named("../up.txt", "x"), named("a/../../up.txt", "x"), named(`..\up.txt`, "x"), named("/etc/passwd", "x"), named(`C:\x.txt`, "x"), named("c:x.txt", "x"),
		link, device, encrypted, unknown, damaged, checksum, longer,
		named("twice.txt", "one"), named("twice.txt", "two"), named("./twice.txt", "three"),
		named("bomb.txt", strings.Repeat("0", 20<<20)), named("a\nb\x00.txt", "control"),
		named("last.txt", "2"))
	want(t, data, map[string]string{
		"first.txt": "1", "last.txt": "2", "a\ufffdb\ufffd.txt": "control",
		"../up.txt": "! invalid", "a/../../up.txt": "! invalid", `..\up.txt`: "! invalid", "/etc/passwd": "! invalid", `C:\x.txt`: "! invalid", "c:x.txt": "! invalid",
		"link.txt": "! invalid", "device": "! invalid", "encrypted.txt": "! encrypted", "lzma.txt": "! unsupported_format",
		"damaged.txt": "! corrupt", "checksum.txt": "! corrupt", "longer.txt": "! corrupt",
		"twice.txt": "one", "twice.txt (2)": "! conflict", "twice.txt (3)": "! conflict", "bomb.txt": "! parse_limit",
	})
}

func TestArchivesInside(t *testing.T) {
	t.Parallel()
	third := pack(t, named("deep.txt", "deep"))
	second := pack(t, named("in.txt", "in"), named("third.ZIP", string(third)), named("../up.txt", "x"), named("in.txt", "again"))
	data := pack(t, named("a.txt", "a"), named("second.zip", string(second)), named("second.zip/in.txt", "clash"),
		named("broken.zip", "not an archive"), named("cut.zip", string(second[:len(second)-30])), named("z.txt", "z"))
	want(t, data, map[string]string{
		"a.txt": "a", "second.zip/in.txt": "in", "second.zip/third.ZIP": "! unsupported_format", "second.zip/../up.txt": "! invalid",
		"second.zip/in.txt (2)": "! conflict", "broken.zip": "! corrupt", "cut.zip": "! corrupt", "z.txt": "z",
		"second.zip (2)/in.txt": "! conflict",
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	var inner []file
	for i := range 1500 {
		inner = append(inner, named(fmt.Sprintf("%04d.txt", i), fmt.Sprint("inner ", i)))
	}
	files := []file{named("in.zip", string(pack(t, inner...)))}
	for i := range 1000 {
		files = append(files, named(fmt.Sprintf("%04d.txt", i), fmt.Sprint("outer ", i)))
	}
	data := pack(t, files...)
	objects, pages := sourcetest.All(t, func() source.Source { return open(t, data) })
	if diff := cmp.Diff([]int{1000, 1000, 500}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, i := range []int{0, 999, 1000, 1499, 1500, 2499} {
		wantText := fmt.Sprint("inner ", i)
		if i >= 1500 {
			wantText = fmt.Sprint("outer ", i-1500)
		}
		if text, read := sourcetest.Read(t, open(t, data), objects[i]); text != wantText || !cmp.Equal(read, objects[i]) {
			t.Errorf("got %q as %+v, listed %+v", text, read, objects[i])
		}
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	before := open(t, pack(t, named("a.txt", "same"), named("b.txt", "old")))
	after := open(t, pack(t, named("new.txt", "x"), named("a.txt", "same"), named("b.txt", "new")))
	known := map[string]string{}
	objects, _ := sourcetest.All(t, func() source.Source { return before })
	for _, o := range objects {
		known[o.Key] = o.ETag
	}
	objects, _ = sourcetest.All(t, func() source.Source { return after })
	for _, o := range objects {
		_, _, err := after.Open(t.Context(), o, known[o.Key])
		if unchanged := errors.Is(err, source.ErrUnchanged); unchanged != (o.Key == "a.txt") {
			t.Errorf("%s: got error %v", o.Key, err)
		}
	}
}

func TestLegacyNames(t *testing.T) {
	t.Parallel()
	legacy := func(name string) file {
		return file{FileHeader: zip.FileHeader{Name: name, NonUTF8: true}, body: "x"}
	}
	added := legacy("\x82.txt")
	added.Extra = append([]byte{0x75, 0x70, 15, 0, 1, 0xb5, 0x4a, 0x9f, 0xae}, "Ünïc.txt"...)
	cases := map[string]struct {
		files []file
		want  []string
	}{
		"code_page_437": {[]file{legacy("R\x82sum\x82.txt"), legacy("\x9aber.txt")}, []string{"Résumé.txt", "Über.txt"}},
		"gbk":           {[]file{legacy("\xce\xc4\xbc\xfe/\xb2\xe2\xca\xd4.txt")}, []string{"文件/测试.txt"}},
		"shift_jis":     {[]file{legacy("\x83\x65\x83\x58\x83\x67\x8e\x91\x97\xbf.txt"), legacy("\x82\xa0.txt")}, []string{"テスト資料.txt", "あ.txt"}},
		"russian":       {[]file{legacy("\x8f\xe0\xa8\xa2\xa5\xe2 2.txt")}, []string{"Привет 2.txt"}},
		"added_name":    {[]file{added}, []string{"Ünïc.txt"}},
		"utf8_unmarked": {[]file{legacy("文書.txt")}, []string{"文書.txt"}},
		"utf8_marked":   {[]file{named("Ünïcode/文書.txt", "x")}, []string{"Ünïcode/文書.txt"}},
		"invalid_utf8":  {[]file{{FileHeader: zip.FileHeader{Name: "a\xff.txt", Flags: 0x800}, body: "x"}}, []string{"a\u00a0.txt"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, _ := sourcetest.All(t, func() source.Source { return open(t, pack(t, c.files...)) })
			var got []string
			for _, o := range objects {
				got = append(got, o.Key)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// failing is storage that fails after the directory was read.
type failing struct {
	io.ReaderAt
	fails bool
}

func (f *failing) ReadAt(p []byte, offset int64) (int, error) {
	if f.fails {
		return 0, errors.New("the disk is gone")
	}
	return f.ReaderAt.ReadAt(p, offset)
}

func TestStorageThatFails(t *testing.T) {
	t.Parallel()
	data := pack(t, named("a.txt", "a"), named("in.zip", string(pack(t, named("b.txt", "b")))))
	storage := &failing{ReaderAt: bytes.NewReader(data)}
	s, err := archive.New(io.NewSectionReader(storage, 0, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	storage.fails = true
	_, err = s.List(t.Context(), "")
	sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
	_, _, err = s.Open(t.Context(), source.Object{Key: "a.txt", Ref: "0"}, "")
	sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
}

func TestBadArchives(t *testing.T) {
	t.Parallel()
	good := pack(t, named("a.txt", "a"), named("b.txt", "b"))
	many := bytes.Clone(good)
	end := bytes.LastIndex(many, []byte("PK\x05\x06"))
	copy(many[end+8:], "\xff\xff\xff\xff")
	for name, c := range map[string]struct {
		data []byte
		code knowledge.Code
	}{
		"empty":          {nil, knowledge.CodeCorrupt},
		"text":           {[]byte("not an archive"), knowledge.CodeCorrupt},
		"truncated":      {good[:len(good)-40], knowledge.CodeCorrupt},
		"a_wrong_count":  {many, knowledge.CodeCorrupt},
		"long_directory": {longDirectory(t), knowledge.CodeParseLimit},
		"many_files":     {manyFiles(t), knowledge.CodeParseLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := archive.New(section(c.data))
			sourcetest.Want(t, err, c.code, false)
		})
	}
}

// longDirectory returns an archive whose names are longer than the directory may
// be.
func longDirectory(t *testing.T) []byte {
	files := make([]file, 600)
	for i := range files {
		files[i] = named(fmt.Sprint(i, strings.Repeat("n", 60_000)), "")
	}
	return pack(t, files...)
}

func manyFiles(t *testing.T) []byte {
	files := make([]file, 200_001)
	for i := range files {
		files[i] = file{FileHeader: zip.FileHeader{Name: fmt.Sprint(i)}, raw: true}
	}
	return pack(t, files...)
}

// TestOverlap reads an archive whose files claim the same bytes again and again.
func TestOverlap(t *testing.T) {
	t.Parallel()
	var files []file
	for i := range 10 {
		f := named(fmt.Sprintf("%d.txt", i), "")
		f.raw, f.UncompressedSize64, f.CompressedSize64 = true, 5<<20, 400
		files = append(files, f)
	}
	got := outcomes(t, open(t, pack(t, files...)))
	if got["9.txt"] != "! parse_limit" {
		t.Errorf("got %v", got)
	}
}

func TestHostileTokens(t *testing.T) {
	t.Parallel()
	s := open(t, pack(t, named("a.txt", "a")))
	for _, token := range []string{"x", "-1", "1.x", "0.-5", "99999999999999999999"} {
		_, err := s.List(t.Context(), token)
		sourcetest.Want(t, err, knowledge.CodeInvalid, false)
	}
	if page, err := s.List(t.Context(), "7.3"); err != nil || len(page.Objects) != 0 {
		t.Errorf("beyond the end: %+v, %v", page, err)
	}
	for ref, code := range map[string]knowledge.Code{"": knowledge.CodeInvalid, "7": knowledge.CodeNotFound} {
		_, _, err := s.Open(t.Context(), source.Object{Key: "x", Ref: ref}, "")
		sourcetest.Want(t, err, code, false)
	}
}

// FuzzArchive checks that no bytes make the reader panic, list two files with one
// key, or return an error without a code.
func FuzzArchive(f *testing.F) {
	f.Add(pack(f, named("a.txt", "a"), named("in.zip", string(pack(f, named("b.txt", "b"))))))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := archive.New(section(data))
		if err != nil {
			sourcetest.Want(t, err, knowledge.AsError(err).Code, false)
			return
		}
		outcomes(t, s)
	})
}
