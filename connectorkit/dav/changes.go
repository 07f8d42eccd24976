package dav

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// listedObject is an object of a collection as a list has it.
type listedObject struct {
	path string
	etag string
}

// collectionChanges is what is to be done about a collection.
type collectionChanges struct {
	fetch []listedObject
	gone  []pathDigest
	token string // to remember when all of it is done; empty when the next run lists again
	ctag  string
	full  int64 // when everything was listed, in Unix seconds; zero when it was not
}

// maxListParts bounds the number of parts of one list.
const maxListParts = 1000

// fullListInterval is how often a collection is listed whole although the server reports changes. Servers forget
// changes, and some of them then answer with what there is, from which a deletion cannot be seen.
const fullListInterval = 7 * 24 * time.Hour

// findChanges compares a collection with what is remembered of it.
func (a *Account) findChanges(ctx context.Context, c Collection, m *collectionMemory) (collectionChanges, error) {
	again := m.unreadObjects(c)
	due := a.setup.Now().Sub(time.Unix(m.Full, 0)) >= fullListInterval
	switch {
	case due: // everything is listed
	case m.Token != "" && m.Token == c.token, m.Token == "" && c.token == "" && m.CTag != "" && m.CTag == c.ctag:
		return collectionChanges{fetch: again, token: m.Token, ctag: m.CTag}, nil
	case m.Token != "":
		out, err := a.changesSinceToken(ctx, c, m)
		if !errors.Is(err, errSyncTokenInvalid) {
			return out.withRetries(again), err
		}
		a.setup.Log.Info("the server no longer knows what changed: comparing by ETag")
	}
	out, err := a.listWholeCollection(ctx, c, m)
	return out.withRetries(again), err
}

func (c collectionChanges) withRetries(again []listedObject) collectionChanges {
	for _, o := range again {
		if !slices.ContainsFunc(c.fetch, func(m listedObject) bool { return m.path == o.path }) {
			c.fetch = append(c.fetch, o)
		}
	}
	return c
}

// unreadObjects returns the objects that earlier runs could not read.
func (m *collectionMemory) unreadObjects(c Collection) []listedObject {
	var out []listedObject
	for _, path := range m.Again {
		if strings.HasPrefix(path, c.Path) {
			out = append(out, listedObject{path: path})
		}
	}
	return out
}

// changesSinceToken asks for what has changed since the token.
func (a *Account) changesSinceToken(ctx context.Context, c Collection, m *collectionMemory) (collectionChanges, error) {
	present, removed, token, err := a.syncCollection(ctx, c, m.Token)
	if err != nil {
		return collectionChanges{}, err
	}
	out := collectionChanges{token: token, ctag: c.ctag, fetch: m.changedObjects(present)}
	if len(out.fetch) < len(present) || 2*len(present) > len(m.objects) && len(m.objects) > 0 {
		// Something on it has not changed, or most of everything has: this may be a list of what there is.
		return collectionChanges{}, errSyncTokenInvalid
	}
	for path := range removed {
		out.gone = append(out.gone, digestPath(path))
	}
	return out, nil
}

// listWholeCollection lists all of a collection. What is remembered and not listed is gone, if a
// second list of another kind does not have it either.
func (a *Account) listWholeCollection(ctx context.Context, c Collection, m *collectionMemory) (collectionChanges,
	error) {
	present, _, token, err := a.syncCollection(ctx, c, "")
	if errors.Is(err, errUnsupported) || errors.Is(err, errSyncTokenInvalid) {
		present, token, err = nil, "", nil
	}
	if err != nil {
		return collectionChanges{}, err
	}
	if present == nil {
		if present, err = a.listObjects(ctx, c); err != nil {
			return collectionChanges{}, err
		}
	}
	out := collectionChanges{token: token, ctag: c.ctag, fetch: m.changedObjects(present), full: a.setup.Now().Unix()}
	out.gone = m.missingObjects(present)
	if len(out.gone) == 0 {
		return out, nil
	}
	second, err := a.listObjects(ctx, c)
	if err != nil {
		return collectionChanges{}, err
	}
	maps.Copy(second, present)
	out.gone = m.missingObjects(second)
	return out, nil
}

// changedObjects returns the listed objects with another version than the one that was read.
func (m *collectionMemory) changedObjects(present map[string]string) []listedObject {
	var out []listedObject
	for _, path := range slices.Sorted(maps.Keys(present)) {
		v := digestVersion(present[path])
		if known, have := m.objects[digestPath(path)]; !have || v == (versionDigest{}) || known.version != v {
			out = append(out, listedObject{path, present[path]})
		}
	}
	return out
}

// missingObjects returns the remembered objects that are not listed.
func (m *collectionMemory) missingObjects(present map[string]string) []pathDigest {
	left := maps.Clone(m.objects)
	for path := range present {
		delete(left, digestPath(path))
	}
	return slices.SortedFunc(maps.Keys(left), func(x, y pathDigest) int { return slices.Compare(x[:], y[:]) })
}

var (
	errSyncTokenInvalid = errors.New("the sync token is no longer valid")
	errUnsupported      = errors.New("the server has no sync-collection")
)

// syncCollection requests the sync-collection report (RFC 6578), in as many parts as the server makes
// it. Present has the ETag of each path, removed what is no more.
func (a *Account) syncCollection(ctx context.Context, c Collection, token string) (present map[string]string,
	removed map[string]bool, next string, err error) {
	present, removed = map[string]string{}, map[string]bool{}
	for range maxListParts {
		body := `<sync-collection xmlns="DAV:"><sync-token>` + escapeXML(token) +
			`</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>`
		m, resp, err := a.sendRequest(ctx, "REPORT", c.Path, "0", body)
		if err != nil {
			return nil, nil, "", reportFailure(resp, err)
		}
		more := false
		for _, r := range m.Responses {
			at, ok := pathFromHref(r.Href)
			switch {
			case !ok:
			case at == c.Path || at+"/" == c.Path:
				more = more || statusCode(r.Status) == http.StatusInsufficientStorage
			case statusCode(r.Status) == http.StatusNotFound || statusCode(r.Status) == http.StatusGone:
				delete(present, at)
				removed[at] = true
			case c.containsPath(at):
				delete(removed, at)
				present[at] = r.foundProperties().ETag
			}
		}
		if !more {
			return present, removed, strings.TrimSpace(m.SyncToken), nil
		}
		if m.SyncToken == "" || m.SyncToken == token {
			break
		}
		token = m.SyncToken
	}
	return nil, nil, "", connectorkit.Fail(connectorkit.Malformed, errNotMultistatus)
}

// reportFailure distinguishes an expired token and a server without the report from other failures.
func reportFailure(resp *governhttp.Response, err error) error {
	var e *connectorkit.Error
	if resp == nil || !errors.As(err, &e) {
		return err
	}
	if bytes.Contains(resp.Body, []byte("valid-sync-token")) {
		return errSyncTokenInvalid
	}
	switch e.Class {
	case connectorkit.Malformed:
		if resp.Status >= 400 {
			return errUnsupported
		}
	case connectorkit.Forbidden:
		if bytes.Contains(resp.Body, []byte("supported-report")) ||
			bytes.Contains(resp.Body, []byte("number-of-matches-within-limits")) {
			return errUnsupported
		}
	}
	return err
}

// listObjects asks for every object of a collection with its ETag.
func (a *Account) listObjects(ctx context.Context, c Collection) (map[string]string, error) {
	m, err := a.propfind(ctx, c.Path, "1", `<resourcetype/><getetag/><getlastmodified/>`)
	if err != nil {
		return nil, err
	}
	present := map[string]string{}
	for _, r := range m.Responses {
		p := r.foundProperties()
		if at, ok := pathFromHref(r.Href); ok && c.containsPath(at) && !p.hasType("DAV:", "collection") {
			present[at] = p.ETag
			if p.ETag == "" {
				present[at] = p.Modified
			}
		}
	}
	return present, nil
}

// containsPath reports whether a path is that of an object directly in the collection.
func (c Collection) containsPath(path string) bool {
	name, below := strings.CutPrefix(path, c.Path)
	return below && name != "" && !strings.Contains(name, "/")
}

func escapeXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
