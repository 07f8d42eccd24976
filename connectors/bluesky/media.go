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
	filesPerSlice   = 10   // files between two bookmarks
	maxFilesPerList = 1000 // the server's maximum
)

// mediaRecord is a picture or a video that a record of the account refers to. Its content is a file
// beside it.
type mediaRecord struct {
	ID       string                `json:"id"`
	MIMEType string                `json:"mime_type,omitzero"`
	Bytes    int64                 `json:"size_bytes,omitzero"`
	BlobRef  *connectorkit.BlobRef `json:"blob_ref"`
}

// mediaCollector goes through the files of the repository. A file never changes, so that each is read once.
//
// The bookmark holds
//
//	rev   the revision at which everything was there
//	ids   which files were sent and not deleted
type mediaCollector struct {
	*blueskyAccount
	known map[string]bool
	todo  []string // not read yet
	gone  []string
	rev   string // never newer than the list
	late  error  // met after a part of a page was read: the next page begins with it
}

func (m *mediaCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := m.late; err != nil {
		m.late = nil
		return connectorkit.Page{}, err
	}
	if m.known == nil {
		if err := m.startWalk(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	page := connectorkit.Page{Total: len(m.known) + len(m.todo)}
	for len(m.todo) > 0 && len(page.Records) < filesPerSlice {
		record, err := m.readFile(ctx, m.todo[0])
		if err != nil && len(page.Records) == 0 {
			return connectorkit.Page{}, err
		}
		if m.late = err; err != nil {
			break
		}
		page.Records = append(page.Records, record)
		m.known[m.todo[0]], m.todo = true, m.todo[1:]
	}
	if page.Next, page.More = m.nextCursor(), len(m.todo) > 0 || m.late != nil; page.More {
		return page, nil
	}
	if len(m.gone) > 0 { // what another program wrote meanwhile may refer to it again
		now, err := m.latestRevision(ctx)
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
	page.Next = m.nextCursor()
	page.Next["rev"] = m.rev
	page.Whole = &connectorkit.Whole{Keys: maps.Keys(m.known), Gone: m.unchangedSinceListing}
	return page, nil
}

// unchangedSinceListing returns the ids, if the repository is as it was listed.
func (m *mediaCollector) unchangedSinceListing(ctx context.Context, ids []string) ([]string, error) {
	now, err := m.latestRevision(ctx)
	if err == nil && now != m.rev {
		err = connectorkit.ErrNotConfirmed
	}
	return ids, err
}

// startWalk finds out what there is to do.
func (m *mediaCollector) startWalk(ctx context.Context, at connectorkit.Cursor) error {
	if m.blueskyAccount.rev == "" {
		rev, err := m.latestRevision(ctx)
		if err != nil {
			return err
		}
		m.blueskyAccount.rev = rev
	}
	known := map[string]bool{}
	for id := range strings.FieldsSeq(at["ids"]) {
		known[id] = true
	}
	m.rev = m.blueskyAccount.rev
	if at["rev"] != m.rev {
		present, err := m.listFiles(ctx)
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

func (m *mediaCollector) nextCursor() connectorkit.Cursor {
	return connectorkit.Cursor{"ids": strings.Join(slices.Sorted(maps.Keys(m.known)), " ")}
}

// listFiles asks which files the records of the repository refer to.
func (m *mediaCollector) listFiles(ctx context.Context) (all []string, err error) {
	for cursor := ""; ; {
		query := url.Values{"did": {""}, "limit": {"1000"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var answer struct {
			CIDs   *[]string `json:"cids"`
			Cursor string    `json:"cursor"`
		}
		if err := m.getJSON(ctx, "com.atproto.sync.listBlobs", query, &answer); err != nil {
			return nil, err
		}
		if answer.CIDs == nil {
			return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
		}
		all = append(all, *answer.CIDs...)
		if len(*answer.CIDs) < maxFilesPerList || answer.Cursor == "" || answer.Cursor == cursor {
			slices.Sort(all)
			return slices.Compact(all), nil
		}
		cursor = answer.Cursor
	}
}

// readFile downloads one file. A file that the server lists but does not serve becomes a gap.
func (m *mediaCollector) readFile(ctx context.Context, id string) (connectorkit.Record, error) {
	resp, err := m.files.Do(ctx,
		governhttp.Request{Path: "/xrpc/com.atproto.sync.getBlob", Query: url.Values{"did": {m.did}, "cid": {id}},
			Stream: true})
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
	if !saved.TooLarge && !matchesContentID(id, saved.SHA256) {
		return connectorkit.Record{}, connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return connectorkit.Upsert(mediaRecord{id, kind, saved.Bytes, saved.Ref(kind)}).WithBlobs(saved.As("blob_ref", kind,
		"")), nil
}

// matchesContentID reports whether a file has the digest that its content id names. Ids of unknown formats are
// accepted.
func matchesContentID(id, sha256 string) bool {
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
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return classifyResponse(r)
}
