package blob

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The limits of a key: of the object stores, and of file systems for each part.
const (
	maxKeyBytes  = 1024
	maxPartBytes = 200
)

// temporaryKey matches the keys of unfinished writes in a folder.
var temporaryKey = regexp.MustCompile(`\.[0-9a-f]{15,17}\.tmp$`)

// DocumentPrefix returns the prefix of all blobs of a document.
func DocumentPrefix(workspace, project, document string) string {
	return workspace + "/" + project + "/" + document + "/"
}

// VersionPrefix returns the prefix of the step results of one version of a
// document.
func VersionPrefix(v knowledge.VersionRef) string {
	return DocumentPrefix(v.Workspace, v.Project, v.Document) + strconv.Itoa(v.Version) + "/"
}

// StepKey returns the key of the result of one step of a version.
func StepKey(v knowledge.VersionRef, step string) string { return VersionPrefix(v) + step }

// AssetKey returns the key of a picture of a version: of a page or a figure.
func AssetKey(v knowledge.VersionRef, name string) string {
	return StepKey(v, "assets/"+url.PathEscape(name))
}

// UploadKey returns the key of a document's original as one upload brought it. It
// does not name the version, whose number is assigned after the bytes are stored.
func UploadKey(workspace, project, document, upload string) string {
	return DocumentPrefix(workspace, project, document) + "upload-" + upload + "/" + originalName
}

// originalName is the name of an original in the folder of its upload.
const originalName = "original"

// Original returns the key of the original to which something of BesideUpload belongs.
func Original(beside string) string { return UploadFolder(beside) + originalName }

// UploadFolder returns the prefix of what belongs to an original of UploadKey: the
// original, and what BesideUpload names.
func UploadFolder(original string) string { return original[:strings.LastIndexByte(original, '/')+1] }

// BesideUpload returns the key of something that belongs to an original and goes with
// it, such as its transcript.
func BesideUpload(original, name string) string { return UploadFolder(original) + name }

// Transcript is the name, beside the original of a recording, of the transcript that
// came with it.
const Transcript = "transcript"

// checkKey refuses a key that could leave its prefix or that some store could
// not hold. Keys are made of ids that this project generates, so a bad one is a
// defect or an attack.
func checkKey(key string) error {
	if len(key) > maxKeyBytes {
		return fmt.Errorf("blob key of %d bytes: at most %d are allowed", len(key), maxKeyBytes)
	}
	if !utf8.ValidString(key) {
		return fmt.Errorf("blob key %q is not UTF-8", key)
	}
	if strings.ContainsFunc(key, unicode.IsControl) || strings.Contains(key, `\`) || strings.Contains(key, "__0x") {
		return fmt.Errorf("blob key %q has a character that keys may not have", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		switch {
		case part == "":
			return fmt.Errorf("blob key %q has an empty part", key)
		case part == "." || part == "..":
			return fmt.Errorf("blob key %q has a relative part", key)
		case len(part) > maxPartBytes:
			return fmt.Errorf("blob key has a part of %d bytes: at most %d are allowed", len(part), maxPartBytes)
		}
	}
	if strings.HasSuffix(key, ".attrs") || temporaryKey.MatchString(key) || strings.HasPrefix(key, smallName) {
		return fmt.Errorf("blob key %q is a name that folders reserve", key)
	}
	return nil
}

// checkPrefix refuses a prefix that is not a whole folder: "a/1" would match
// "a/10" too, and the empty one every key.
func checkPrefix(prefix string) error {
	folder, ok := strings.CutSuffix(prefix, "/")
	if !ok {
		return fmt.Errorf(`blob prefix %q does not end in "/"`, prefix)
	}
	return checkKey(folder)
}
