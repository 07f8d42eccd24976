package bluesky

import (
	"context"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	perBatch = 10   // files between two bookmarks
	perList  = 1000 // the most that a server gives
)

// mediaRecord is a picture or a video that a record of the account refers to. Its content is a file
// beside it.
type mediaRecord struct {
	ID       string                `json:"id"`
	MIMEType string                `json:"mime_type,omitzero"`
	Bytes    int64                 `json:"size_bytes,omitzero"`
	BlobRef  *connectorkit.BlobRef `json:"blob_ref"`
}

// media goes through the files of the repository. A file never changes, so that each is read once.
//
// The bookmark holds
//
//	rev   the revision at which everything was there
//	ids   which files were sent and not deleted
type media struct {
	*account
	known map[string]bool
	todo  []string // not read yet
	gone  []string
	rev   string // never newer than the list
	late  error  // met after a part of a page was read: the next page begins with it
}

func (m *media) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := m.late; err != nil {
		m.late = nil
		return connectorkit.Page{}, err
	}
	if m.known == nil {
		if err := m.begin(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	page := connectorkit.Page{Total: len(m.known) + len(m.todo)}
	for len(m.todo) > 0 && len(page.Records) < perBatch {
		record, err := m.file(ctx, m.todo[0])
		if err != nil && len(page.Records) == 0 {
			return connectorkit.Page{}, err
		}
		if m.late = err; err != nil {
			break
		}
		page.Records = append(page.Records, record)
		m.known[m.todo[0]], m.todo = true, m.todo[1:]
	}
	if page.Next, page.More = m.bookmark(), len(m.todo) > 0 || m.late != nil; page.More {
		return page, nil
	}
	if len(m.gone) > 0 { // what another program wrote meanwhile may refer to it again
		now, err := m.revision(ctx)
		if err != nil {
			return connectorkit.Page{}, err
		}
		if now != m.rev {
			return page, nil
		}
	}
	for _, id := range m.gone {
		page.Records = append(page.Records, connectorkit.Delete(id))
		delete(m.known, id)
	}
	page.Next = m.bookmark()
	page.Next["rev"] = m.rev
	page.Whole = &connectorkit.Whole{Keys: maps.Keys(m.known), Gone: m.sure}
	return page, nil
}

// sure returns the ids, if the repository is as it was listed.
func (m *media) sure(ctx context.Context, ids []string) ([]string, error) {
	now, err := m.revision(ctx)
	if err == nil && now != m.rev {
		err = connectorkit.ErrUnsure
	}
	return ids, err
}

// begin finds out what there is to do.
func (m *media) begin(ctx context.Context, at connectorkit.Cursor) error {
	if m.account.rev == "" {
		rev, err := m.revision(ctx)
		if err != nil {
			return err
		}
		m.account.rev = rev
	}
	known := map[string]bool{}
	for id := range strings.FieldsSeq(at["ids"]) {
		known[id] = true
	}
	m.rev = m.account.rev
	if at["rev"] != m.rev {
		present, err := m.list(ctx)
		if err != nil {
			return err
		}
		for _, id := range present {
			if !known[id] {
				m.todo = append(m.todo, id)
			}
		}
		left := maps.Clone(known)
		for _, id := range present {
			delete(left, id)
		}
		m.gone = slices.Sorted(maps.Keys(left))
	}
	m.known = known
	return nil
}

func (m *media) bookmark() connectorkit.Cursor {
	return connectorkit.Cursor{"ids": strings.Join(slices.Sorted(maps.Keys(m.known)), " ")}
}

// list asks which files the records of the repository refer to.
func (m *media) list(ctx context.Context) (all []string, err error) {
	for cursor := ""; ; {
		query := url.Values{"did": {""}, "limit": {"1000"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var answer struct {
			CIDs   *[]string `json:"cids"`
			Cursor string    `json:"cursor"`
		}
		if err := m.get(ctx, "com.atproto.sync.listBlobs", query, &answer); err != nil {
			return nil, err
		}
		if answer.CIDs == nil {
			return nil, connectorkit.Fail(connectorkit.Malformed, errForm)
		}
		all = append(all, *answer.CIDs...)
		if len(*answer.CIDs) < perList || answer.Cursor == "" || answer.Cursor == cursor {
			slices.Sort(all)
			return slices.Compact(all), nil
		}
		cursor = answer.Cursor
	}
}

// file reads one. What the server lists and does not give is declared.
func (m *media) file(ctx context.Context, id string) (connectorkit.Record, error) {
	resp, err := m.files.Do(ctx, governhttp.Request{Path: "/xrpc/com.atproto.sync.getBlob", Query: url.Values{"did": {m.did}, "cid": {id}}, Stream: true})
	var e *connectorkit.Error
	if errors.As(err, &e) && (e.Class == connectorkit.NotFound || e.Status == http.StatusBadRequest) {
		return connectorkit.Unreadable(id, nil), nil
	}
	if err != nil {
		return connectorkit.Record{}, err
	}
	saved, err := m.setup.SaveBlob(ctx, resp.Stream)
	_ = resp.Stream.Close() // what was read is judged by its digest
	if err != nil {
		if ctx.Err() != nil {
			return connectorkit.Record{}, err
		}
		return connectorkit.Record{}, connectorkit.Fail(connectorkit.Unavailable, err)
	}
	if !saved.TooLarge && !named(id, saved.SHA256) {
		return connectorkit.Record{}, connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return connectorkit.Upsert(mediaRecord{id, kind, saved.Bytes, saved.Ref(kind)}).WithBlobs(saved.As("blob_ref", kind, "")), nil
}

// named tells whether a file is the one that its name promises: the name is made of the digest. Names
// of another make are taken as they are.
func named(id, sha256 string) bool {
	digest, err := hex.DecodeString(sha256)
	if err != nil || !strings.HasPrefix(id, "bafkrei") {
		return err == nil
	}
	raw := append([]byte{1, 0x55, 0x12, 0x20}, digest...) // version, plain bytes, SHA-256, its length
	return id == "b"+strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
}

// classifyFile is classify for an answer that is a file.
func classifyFile(r *governhttp.Response) error {
	if r.Stream != nil {
		return nil
	}
	if r.Status == http.StatusOK {
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return classify(r)
}
