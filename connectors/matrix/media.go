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

// media are the files that people send. Each has the key of the message that it came with, so that
// it goes with it. What stands for a file in an encrypted room is encrypted, too, and is no file here.
type media struct{ *account }

func (media) types() []string { return []string{"m.room.message", "m.room.redaction"} }

func (media) edits() bool { return false }

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

func (m media) record(ctx context.Context, room string, e event) (*connectorkit.Record, error) {
	var c said
	if json.Unmarshal(e.Content, &c) != nil || c.file() == "" || c.URL == "" {
		return nil, nil // the message says so
	}
	fault := connectorkit.Unreadable(e.ID, nil)
	server, id, ok := strings.Cut(strings.TrimPrefix(c.URL, "mxc://"), "/")
	if !ok || server == "" || id == "" || !strings.HasPrefix(c.URL, "mxc://") {
		return &fault, nil
	}
	out := mediaRecord{ID: e.ID, Room: room, Sender: e.Sender, SentAt: moment(e.SentMS), Name: c.file(), MIMEType: c.Info.MIMEType, Bytes: c.Info.Bytes, URL: c.URL}
	saved, kind, err := m.fetch(ctx, server, id, c.Info.Bytes)
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

// fetch reads one file, unless it is announced as larger than the owner keeps. One of another size than
// its sender told is read twice: senders err, and so do proxies, but not twice in the same way.
func (m media) fetch(ctx context.Context, server, id string, announced int64) (connectorkit.SavedBlob, string, error) {
	if limit := m.setup.BlobLimit(); limit >= 0 && announced > limit {
		return connectorkit.TooLarge(), "", nil
	}
	path := url.PathEscape(server) + "/" + url.PathEscape(id)
	saved, kind, err := m.load(ctx, path)
	if err != nil || saved.TooLarge || saved.Bytes == announced {
		return saved, kind, err
	}
	again, kind, err := m.load(ctx, path)
	if err == nil && again.SHA256 != saved.SHA256 && again.Bytes != announced {
		err = connectorkit.Fail(connectorkit.Unavailable, errForm)
	}
	saved.Remove()
	return again, kind, err
}

// load reads a file once. Servers from before files had to be asked for with a token have another place.
func (m media) load(ctx context.Context, path string) (connectorkit.SavedBlob, string, error) {
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
