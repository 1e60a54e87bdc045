package audit

import (
	"encoding/json"
	"strings"
)

// The classes, activities and numbers of the Open Cybersecurity Schema Framework 1.3 that
// entries have.
const (
	ocsfVersion        = "1.3.0"
	ocsfAuthentication = 3002 // Identity & Access Management: Authentication
	ocsfAPIActivity    = 6003 // Application Activity: API Activity

	activityUnknown = 0
	activityCreate  = 1 // of Authentication: Logon
	activityRead    = 2 // of Authentication: Logoff
	activityUpdate  = 3
	activityDelete  = 4
	activityOther   = 99

	statusSuccess = 1
	statusFailure = 2
)

// OCSF is an entry as an event of the Open Cybersecurity Schema Framework.
type OCSF struct {
	Metadata struct {
		Version string `json:"version"`
		UID     string `json:"uid"` // the hash of the entry
		Product struct {
			Name   string `json:"name"`
			Vendor string `json:"vendor_name"`
		} `json:"product"`
		TenantUID string `json:"tenant_uid"` // the workspace
		Sequence  int64  `json:"sequence"`
	} `json:"metadata"`
	Time       int64  `json:"time"` // in milliseconds
	CategoryID int    `json:"category_uid"`
	ClassID    int    `json:"class_uid"`
	ActivityID int    `json:"activity_id"`
	TypeID     int    `json:"type_uid"`
	SeverityID int    `json:"severity_id"` // 1: informational, 3: medium
	StatusID   int    `json:"status_id"`
	StatusCode string `json:"status_code"`
	Actor      struct {
		User ocsfUser `json:"user"`
	} `json:"actor"`
	User ocsfUser `json:"user"`
	API  struct {
		Operation string `json:"operation"`
		Request   struct {
			UID string `json:"uid"`
		} `json:"request"`
	} `json:"api"`
	Source struct {
		IP string `json:"ip,omitempty"`
	} `json:"src_endpoint"`
	Resources []ocsfResource  `json:"resources,omitempty"`
	Unmapped  json.RawMessage `json:"unmapped"` // the details of the entry
}

type ocsfUser struct {
	UID string `json:"uid"`
}

type ocsfResource struct {
	UID string `json:"uid"`
}

// NewOCSF returns an entry of a workspace as such an event.
func NewOCSF(workspace string, e Entry) OCSF {
	o := OCSF{Time: e.At.UnixMilli(), CategoryID: ocsfAPIActivity / 1000, ClassID: ocsfAPIActivity, ActivityID: activityOf(e.Action), Unmapped: e.Details}
	o.Metadata.Version, o.Metadata.UID, o.Metadata.TenantUID, o.Metadata.Sequence = ocsfVersion, e.Hash, workspace, e.Seq
	o.Metadata.Product.Name, o.Metadata.Product.Vendor = "Cairn", "Cairn"
	if e.Action == "sign-in" || e.Action == "sign-out" {
		o.CategoryID, o.ClassID, o.ActivityID = ocsfAuthentication/1000, ocsfAuthentication, activityCreate
		if e.Action == "sign-out" {
			o.ActivityID = activityRead
		}
	}
	o.TypeID = o.ClassID*100 + o.ActivityID
	o.SeverityID, o.StatusID, o.StatusCode = 1, statusSuccess, e.Outcome
	if e.Outcome != OutcomeOK {
		o.SeverityID, o.StatusID = 3, statusFailure
	}
	o.Actor.User.UID, o.User.UID, o.Source.IP = e.Actor, e.Actor, e.Address
	o.API.Operation, o.API.Request.UID = e.Action, e.RequestID
	for _, object := range e.Objects() {
		o.Resources = append(o.Resources, ocsfResource{object})
	}
	return o
}

// activityOf returns the activity that the operationId of a route names.
func activityOf(action string) int {
	verb, _, _ := strings.Cut(strings.TrimPrefix(action, "workspace-"), "-")
	switch verb {
	case "create", "upload", "start", "query", "add", "ingest":
		return activityCreate
	case "get", "list", "read", "retrieve", "search", "run", "verify", "explain":
		return activityRead
	case "put", "patch", "update", "rename", "retry", "reingest", "reindex":
		return activityUpdate
	case "delete", "remove", "forget", "cut", "revoke":
		return activityDelete
	case "":
		return activityUnknown
	}
	return activityOther
}
