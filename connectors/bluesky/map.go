package bluesky

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// place is what every record of a repository has.
type place struct {
	ID        string `json:"id"`
	URI       string `json:"uri"`
	CID       string `json:"cid"`
	CreatedAt string `json:"created_at,omitzero"`
}

func (e entry) place(createdAt string) place { return place{e.key(), e.URI, e.CID, moment(createdAt)} }

// moment passes on a time that programs of the author's wrote, when it is one.
func moment(text string) string {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return ""
	}
	return text
}

// strongRef points at one version of a record.
type strongRef struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

type reactionRecord struct {
	place
	SubjectURI string `json:"subject_uri"`
	SubjectCID string `json:"subject_cid,omitzero"`
	SubjectDID string `json:"subject_did,omitzero"`
}

// reaction is a like or a repost.
func reaction(e entry) (any, error) {
	var v struct {
		Subject   strongRef `json:"subject"`
		CreatedAt string    `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return reactionRecord{e.place(v.CreatedAt), v.Subject.URI, v.Subject.CID, authority(v.Subject.URI)}, err
}

// authority is the account in an address of a record.
func authority(uri string) string {
	did, _, _ := strings.Cut(strings.TrimPrefix(uri, "at://"), "/")
	if !strings.HasPrefix(did, "did:") {
		return ""
	}
	return did
}

type followRecord struct {
	place
	SubjectDID string `json:"subject_did"`
}

// follow is somebody whom the person follows, or blocks.
func follow(e entry) (any, error) {
	var v struct {
		Subject   string `json:"subject"`
		CreatedAt string `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return followRecord{e.place(v.CreatedAt), v.Subject}, err
}

type listRecord struct {
	place
	Name        string `json:"name"`
	Purpose     string `json:"purpose,omitzero"`
	Description string `json:"description,omitzero"`
	Avatar      *file  `json:"avatar,omitzero"`
}

func list(e entry) (any, error) {
	var v struct {
		Name        string `json:"name"`
		Purpose     string `json:"purpose"`
		Description string `json:"description"`
		Avatar      *blob  `json:"avatar"`
		CreatedAt   string `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return listRecord{e.place(v.CreatedAt), v.Name, strings.TrimPrefix(v.Purpose, "app.bsky.graph.defs#"), v.Description, v.Avatar.file("")}, err
}

type listItemRecord struct {
	place
	ListID     string `json:"list_id"`
	ListURI    string `json:"list_uri"`
	SubjectDID string `json:"subject_did"`
}

func listItem(e entry) (any, error) {
	var v struct {
		List      string `json:"list"`
		Subject   string `json:"subject"`
		CreatedAt string `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return listItemRecord{e.place(v.CreatedAt), entry{URI: v.List}.key(), v.List, v.Subject}, err
}

// blob is how a record points at a file, in both forms that repositories have.
type blob struct {
	Ref struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
	CID      string `json:"cid"` // the old form
}

// file is a file of a record.
type file struct {
	CID      string `json:"cid"`
	MIMEType string `json:"mime_type,omitzero"`
	Bytes    int64  `json:"size_bytes,omitzero"`
	Alt      string `json:"alt,omitzero"`
}

func (b *blob) file(alt string) *file {
	if b == nil {
		return nil
	}
	f := &file{b.Ref.Link, b.MIMEType, max(b.Size, 0), alt}
	if f.CID == "" {
		f.CID = b.CID
	}
	if f.CID == "" {
		return nil
	}
	return f
}
