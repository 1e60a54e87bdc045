package knowledge

import (
	"encoding/base64"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Visibility says who may ask a published project.
type Visibility string

// The visibilities of publications.
const (
	VisiblePublic    Visibility = "public"    // anybody
	VisibleWorkspace Visibility = "workspace" // people and keys of the workspace
)

// The bounds of a picture in an Avatar, in bytes, and of a short text there, in code points.
const (
	maxAvatarPicture = 64 << 10
	maxAvatarText    = 8
)

// PublicationLimits bound the requests of a minute to an agent. Zero means the default.
type PublicationLimits struct {
	RequestsPerMinute int `json:"requestsPerMinute,omitempty" minimum:"1" maximum:"1000000" doc:"Of all visitors together. Default: 600"`
	VisitorRequests   int `json:"visitorRequestsPerMinute,omitempty" minimum:"1" maximum:"1000000" doc:"Of one visitor. Default: 60"`
}

// WithDefaults returns the limits with the defaults where there are none.
func (l PublicationLimits) WithDefaults() PublicationLimits {
	if l.RequestsPerMinute == 0 {
		l.RequestsPerMinute = 600
	}
	if l.VisitorRequests == 0 {
		l.VisitorRequests = 60
	}
	return l
}

// PublicationSettings are how an agent looks, who may ask it, and how often.
type PublicationSettings struct {
	Visibility     Visibility        `json:"visibility" enum:"public,workspace" doc:"public: anybody may ask, and sees the documents that the whole workspace may read and that are not classified above the lowest level. workspace: people and keys of the workspace, each with the documents that they may read"`
	Title          string            `json:"title" minLength:"1" maxLength:"100"`
	Description    string            `json:"description,omitempty" maxLength:"1000"`
	Starters       []string          `json:"starters,omitempty" maxItems:"6" doc:"Questions to begin with, each of at most 200 characters"`
	Avatar         string            `json:"avatar,omitempty" maxLength:"90000" doc:"At most 8 characters, such as an emoji, or a picture of at most 64 KB as an address of data: data:image/png;base64,… (PNG, JPEG, WebP)"`
	AllowedOrigins []string          `json:"allowedOrigins,omitempty" maxItems:"50" doc:"The origins of the pages that may show the chat, such as https://www.example.com. Default: none"`
	Limits         PublicationLimits `json:"limits,omitzero"`
}

// Publication is a project as an agent: a chat at an address of its own.
type Publication struct {
	PublicationSettings
	Workspace string
	Project   string
	Slug      string // by which the address names it; no other publication of the instance has it
	Sealed    string // the secret that signs the tokens of users, sealed
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Fields returns what is wrong with settings of a request's body.
func (s PublicationSettings) Fields() []Field {
	var wrong []Field
	refuse := func(location, message string) { wrong = append(wrong, Field{Location: location, Message: message}) }
	if strings.TrimSpace(s.Title) == "" {
		refuse("body.title", "must not be empty")
	}
	for _, starter := range s.Starters {
		if strings.TrimSpace(starter) == "" || utf8.RuneCountInString(starter) > 200 {
			refuse("body.starters", "must have questions of at most 200 characters")
			break
		}
	}
	if _, _, isPicture := s.Picture(); !isPicture && (utf8.RuneCountInString(s.Avatar) > maxAvatarText || strings.HasPrefix(s.Avatar, "data:")) {
		refuse("body.avatar", "must be at most 8 characters, or a PNG, JPEG or WebP of at most 64 KB as data:image/png;base64,…")
	}
	for _, allowed := range s.AllowedOrigins {
		if !originForm.MatchString(allowed) {
			refuse("body.allowedOrigins", "must be origins such as https://www.example.com: a scheme (http or https), a host and perhaps a port, without a path")
			break
		}
	}
	return wrong
}

// originForm matches an origin as browsers write it in a header.
var originForm = regexp.MustCompile(`^https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)

// Picture returns the bytes and the media type of the avatar if it is a picture.
func (s PublicationSettings) Picture() (data []byte, mediaType string, ok bool) {
	head, encoded, _ := strings.Cut(s.Avatar, ";base64,")
	mediaType = strings.TrimPrefix(head, "data:")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) > maxAvatarPicture {
		return nil, "", false
	}
	switch text := string(data); mediaType {
	case "image/png":
		ok = strings.HasPrefix(text, "\x89PNG\r\n\x1a\n")
	case "image/jpeg":
		ok = strings.HasPrefix(text, "\xff\xd8\xff")
	case "image/webp":
		ok = strings.HasPrefix(text, "RIFF") && len(text) > 12 && text[8:12] == "WEBP"
	}
	return data, mediaType, ok
}
