package matrix

import (
	"context"
	"mime"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// mediaKind collects the files that people send. A file has the key of its message, so that both are deleted
// together. Files in encrypted rooms are encrypted and are not collected.
type mediaKind struct{ *matrixAccount }

func (mediaKind) eventTypes() []string { return []string{"m.room.message", "m.room.redaction"} }

func (mediaKind) appliesEdits() bool { return false }

type mediaRecord struct {
	ID       string                `json:"id"`
	Room     string                `json:"room_id"`
	Sender   string                `json:"sender"`
	SentAt   string                `json:"sent_at"`
	Name     string                `json:"name,omitzero"`
	MIMEType string                `json:"mime_type,omitzero"`
	Bytes    int64                 `json:"size_bytes,omitzero"`
	URL      string                `json:"url"`
	BlobRef  *connectorkit.BlobRef `json:"blob_ref"`
}

func (m mediaKind) recordOf(ctx context.Context, room string, e roomEvent) (*connectorkit.Record, error) {
	var c messageContent
	if json.Unmarshal(e.Content, &c) != nil || c.sentFileName() == "" || c.URL == "" {
		return nil, nil // the message record has the reason
	}
	fault := connectorkit.Unreadable(e.ID, nil)
	server, id, ok := strings.Cut(strings.TrimPrefix(c.URL, "mxc://"), "/")
	if !ok || server == "" || id == "" || !strings.HasPrefix(c.URL, "mxc://") {
		return &fault, nil
	}
	out := mediaRecord{ID: e.ID, Room: room, Sender: e.Sender, SentAt: formatMillis(e.SentMS), Name: c.sentFileName(),
		MIMEType: c.Info.MIMEType, Bytes: c.Info.Bytes, URL: c.URL}
	saved, kind, err := m.fetchFile(ctx, server, id, c.Info.Bytes)
	switch class := classOf(err); {
	case class == connectorkit.NotFound || class == connectorkit.Forbidden || class == connectorkit.Gone:
		return &fault, nil
	case err != nil:
		return nil, err
	}
	if out.MIMEType == "" {
		out.MIMEType = kind
	}
	if !saved.TooLarge {
		out.Bytes = saved.Bytes
	}
	out.BlobRef = saved.Ref(out.MIMEType)
	record := connectorkit.Upsert(out).WithBlobs(saved.As("blob_ref", out.MIMEType, out.Name))
	return &record, nil
}

// fetchFile downloads one file, unless its announced size exceeds the owner's limit. A file of another size than
// announced is downloaded twice, because senders and proxies err, but not twice in the same way.
func (m mediaKind) fetchFile(ctx context.Context, server, id string, announced int64) (connectorkit.SavedBlob, string,
	error) {
	if limit := m.setup.BlobLimit(); limit >= 0 && announced > limit {
		return connectorkit.OversizedBlob(), "", nil
	}
	path := url.PathEscape(server) + "/" + url.PathEscape(id)
	saved, kind, err := m.downloadFile(ctx, path)
	if err != nil || saved.TooLarge || saved.Bytes == announced {
		return saved, kind, err
	}
	again, kind, err := m.downloadFile(ctx, path)
	if err == nil && again.SHA256 != saved.SHA256 && again.Bytes != announced {
		err = connectorkit.Fail(connectorkit.Unavailable, errUnexpectedShape)
	}
	saved.Remove()
	return again, kind, err
}

// downloadFile downloads a file once. Older servers without authenticated media have another path.
func (m mediaKind) downloadFile(ctx context.Context, path string) (connectorkit.SavedBlob, string, error) {
	resp, err := m.files.Do(ctx, governhttp.Request{Path: "/_matrix/client/v1/media/download/" + path, Stream: true})
	if classOf(err) == connectorkit.NotFound {
		resp, err = m.files.Do(ctx, governhttp.Request{Path: "/_matrix/media/v3/download/" + path, Stream: true})
	}
	if err != nil {
		return connectorkit.SavedBlob{}, "", err
	}
	saved, err := m.setup.SaveBlob(ctx, resp.Stream)
	_ = resp.Stream.Close() // what was read is judged by its size
	if err != nil && ctx.Err() == nil {
		err = connectorkit.Fail(connectorkit.Unavailable, err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return saved, kind, err
}
