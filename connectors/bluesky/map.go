package bluesky

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// recordPlace is what every record of a repository has.
type recordPlace struct {
	ID        string `json:"id"`
	URI       string `json:"uri"`
	CID       string `json:"cid"`
	CreatedAt string `json:"created_at,omitzero"`
}

func (e repositoryEntry) placeOf(createdAt string) recordPlace {
	return recordPlace{e.recordKey(), e.URI, e.CID, validTime(createdAt)}
}

// validTime passes on a time that programs of the author's wrote, when it is one.
func validTime(text string) string {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return ""
	}
	return text
}

// recordReference points at one version of a record.
type recordReference struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

type reactionRecord struct {
	recordPlace
	SubjectURI string `json:"subject_uri"`
	SubjectCID string `json:"subject_cid,omitzero"`
	SubjectDID string `json:"subject_did,omitzero"`
}

// reactionRecordOf is a like or a repost.
func reactionRecordOf(e repositoryEntry) (any, error) {
	var v struct {
		Subject   recordReference `json:"subject"`
		CreatedAt string          `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return reactionRecord{e.placeOf(v.CreatedAt), v.Subject.URI, v.Subject.CID, authorityOfURI(v.Subject.URI)}, err
}

// authorityOfURI is the account in an address of a record.
func authorityOfURI(uri string) string {
	did, _, _ := strings.Cut(strings.TrimPrefix(uri, "at://"), "/")
	if !strings.HasPrefix(did, "did:") {
		return ""
	}
	return did
}

type followRecord struct {
	recordPlace
	SubjectDID string `json:"subject_did"`
}

// followRecordOf maps an account that the person follows or blocks.
func followRecordOf(e repositoryEntry) (any, error) {
	var v struct {
		Subject   string `json:"subject"`
		CreatedAt string `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return followRecord{e.placeOf(v.CreatedAt), v.Subject}, err
}

type listRecord struct {
	recordPlace
	Name        string      `json:"name"`
	Purpose     string      `json:"purpose,omitzero"`
	Description string      `json:"description,omitzero"`
	Avatar      *recordFile `json:"avatar,omitzero"`
}

func listRecordOf(e repositoryEntry) (any, error) {
	var v struct {
		Name        string         `json:"name"`
		Purpose     string         `json:"purpose"`
		Description string         `json:"description"`
		Avatar      *blobReference `json:"avatar"`
		CreatedAt   string         `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return listRecord{e.placeOf(v.CreatedAt), v.Name, strings.TrimPrefix(v.Purpose, "app.bsky.graph.defs#"), v.Description,
		v.Avatar.toRecordFile("")}, err
}

type listItemRecord struct {
	recordPlace
	ListID     string `json:"list_id"`
	ListURI    string `json:"list_uri"`
	SubjectDID string `json:"subject_did"`
}

func listItemRecordOf(e repositoryEntry) (any, error) {
	var v struct {
		List      string `json:"list"`
		Subject   string `json:"subject"`
		CreatedAt string `json:"createdAt"`
	}
	err := json.Unmarshal(e.Value, &v)
	return listItemRecord{e.placeOf(v.CreatedAt), repositoryEntry{URI: v.List}.recordKey(), v.List, v.Subject}, err
}

// blobReference is how a record points at a file, in both forms that repositories have.
type blobReference struct {
	Ref struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
	CID      string `json:"cid"` // the old form
}

// recordFile is a file of a record.
type recordFile struct {
	CID      string `json:"cid"`
	MIMEType string `json:"mime_type,omitzero"`
	Bytes    int64  `json:"size_bytes,omitzero"`
	Alt      string `json:"alt,omitzero"`
}

func (b *blobReference) toRecordFile(alt string) *recordFile {
	if b == nil {
		return nil
	}
	f := &recordFile{b.Ref.Link, b.MIMEType, max(b.Size, 0), alt}
	if f.CID == "" {
		f.CID = b.CID
	}
	if f.CID == "" {
		return nil
	}
	return f
}
