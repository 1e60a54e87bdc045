package source

import (
	"context"
	"io"
)

// Type names a kind of Source.
type Type string

// The types of sources.
const (
	TypeS3      Type = "s3"
	TypeGCS     Type = "gcs"
	TypeAzure   Type = "azure"
	TypeZip     Type = "zip"
	TypeURLList Type = "url_list"
	TypeCrawl   Type = "crawl"
)

// The types of places that are followed.
const (
	TypeWebDAV     Type = "webdav"
	TypeDrive      Type = "drive"
	TypeSharePoint Type = "sharepoint"
	TypeGit        Type = "git"
	TypeIMAP       Type = "imap"
	TypeConfluence Type = "confluence"
	TypeNotion     Type = "notion"
)

// Spec describes a source as a request names it. It contains no secret, so a
// workflow may carry it.
type Spec struct {
	Type    Type    `json:"type"`
	URI     string  `json:"uri"`
	Options Options `json:"options,omitzero"`
	// Secret is the name of the secret that holds the credentials. Without it a bucket
	// is read anonymously, or with the identity of the server.
	Secret string `json:"secret,omitempty"`
}

// Options are the settings of a source. Each type accepts those that it lists;
// any other that is set is an error of the request.
type Options struct {
	// Endpoint is the address of a service that is compatible with S3, GCS or
	// Azure. Defaults to the provider's.
	Endpoint string `json:"endpoint,omitempty"`
	// Region is the region of an S3 bucket. Defaults to the chain's, else
	// us-east-1.
	Region string `json:"region,omitempty"`
	// PathStyle puts the name of an S3 bucket into the path.
	PathStyle bool `json:"path_style,omitempty"`
	// Anonymous sends no credentials to a bucket.
	Anonymous bool `json:"anonymous,omitempty"`
	// RoleARN is the role that is assumed to read an S3 bucket.
	RoleARN string `json:"role_arn,omitempty"`
	// ExternalID is sent when RoleARN is assumed.
	ExternalID string `json:"external_id,omitempty"`
	// MaxPages is the largest number of pages of a crawl. Defaults to 10,000.
	MaxPages int `json:"max_pages,omitempty"`
	// MaxDepth is the largest number of links between the start of a crawl and a
	// page. Defaults to 20.
	MaxDepth int `json:"max_depth,omitempty"`
	// DelayMS is the time between two requests of a crawl in milliseconds. A
	// longer Crawl-delay in robots.txt wins. Defaults to 500.
	DelayMS int `json:"delay_ms,omitempty"`
}

// Request is what a Connector needs to open a source.
type Request struct {
	Spec
	// Credentials is the value of the named secret, nil if none is named: JSON
	// with access_key_id, secret_access_key and session_token, or the
	// provider's own file.
	Credentials []byte
	// Untrusted reports that Credentials are a user's, so that no file, program or
	// private address that they name is used.
	Untrusted bool
	// Identity reports that the server's own cloud identity may be used where no secret
	// is named.
	Identity bool
	// State keeps the state of this import. Lists of addresses and crawls need
	// it.
	State State
	// Previous is the state of the import of the same source before, nil if
	// there is none. A crawl sends conditional requests with it.
	Previous State
	// Archive is the file of a zip.
	Archive *io.SectionReader
}

// Connector opens sources.
type Connector interface {
	// Check refuses a Spec that no source can be opened for: an unknown type, a
	// wrong address, an option of another type. It dials nothing.
	Check(Spec) error
	// Connect returns the source that a request describes. It dials nothing, or
	// only what the credentials need.
	Connect(context.Context, Request) (Source, error)
}
