package message

import (
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// Attachment is what came with a message. Its content is a file beside it, where it is kept.
type Attachment struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"`
	Date      string `json:"date,omitzero"`
	Name      string `json:"file_name,omitzero"`
	Type      string `json:"content_type,omitzero"`
	Inline    bool   `json:"inline,omitzero"`
	ContentID string `json:"content_id,omitzero"`
	Size      int64  `json:"size_bytes"`
	Hash      string `json:"sha256"`

	Blob   *connectorkit.BlobRef `json:"blob_ref"`
	Status Hydration             `json:"hydration_status"`

	saved *connectorkit.SavedBlob // nil: the outcome of its content is unknown
}

// Hydration is the outcome of an attachment's content.
type Hydration string

const (
	HydratedContent  Hydration = "hydrated"  // it is kept
	OversizedContent Hydration = "too_large" // the owner keeps nothing of that size
	DeferredContent  Hydration = "deferred"  // not requested
)

// blobRefField is the member of an attachment that its content belongs to.
const blobRefField = "blob_ref"

// setOutcome notes what became of the content.
func (a *Attachment) setOutcome(saved connectorkit.SavedBlob) {
	a.saved, a.Blob, a.Status = &saved, saved.Ref(a.Type), HydratedContent
	if a.Blob == nil {
		a.Status = OversizedContent
	}
}

// Record is a record of the attachment's data, with its content.
func (a *Attachment) Record(data any) connectorkit.Record {
	r := connectorkit.Upsert(data)
	if a.saved != nil {
		r = r.WithBlobs(a.saved.As(blobRefField, a.Type, a.Name))
	}
	return r
}

// measuredContent counts and hashes a content, which is kept in a file, or not at all.
type measuredContent struct {
	m    *Message
	a    *Attachment
	hash hash.Hash
	file *connectorkit.BlobWriter // may be nil
}

func (s *measuredContent) Write(b []byte) (int, error) {
	s.a.Size += int64(len(b))
	if s.file != nil && s.m.trouble == nil {
		_, s.m.trouble = s.file.Write(b)
	}
	return s.hash.Write(b)
}

func (s *measuredContent) closeContent() {
	s.a.Hash = hex.EncodeToString(s.hash.Sum(nil))
	if s.file == nil {
		return
	}
	if s.m.trouble != nil {
		s.file.Discard()
		return
	}
	saved, err := s.file.Save()
	if err != nil {
		s.m.trouble = err
		return
	}
	s.a.setOutcome(saved)
}

// DiscardFiles deletes the files of a message that will not be stored.
func (m *Message) DiscardFiles() {
	for _, a := range m.Parts {
		if a.saved != nil {
			a.saved.Remove()
		}
	}
}

// KeyedAttachments returns the message's attachments, with their keys set.
func (m *Message) KeyedAttachments() []*Attachment {
	for i, a := range m.Parts {
		a.ID, a.MessageID, a.Date = fmt.Sprintf("%s/%d", m.ID, i+1), m.ID, m.Date
	}
	return m.Parts
}
