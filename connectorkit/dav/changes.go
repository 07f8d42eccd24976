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

// member is an object of a collection as a list has it.
type member struct {
	path string
	etag string
}

// changes is what is to be done about a collection.
type changes struct {
	fetch []member
	gone  []pathMark
	token string // to remember when all of it is done; empty when the next run lists again
	ctag  string
	full  int64 // when everything was listed, in Unix seconds; zero when it was not
}

// maxPages bounds the parts in which a server gives one list.
const maxPages = 1000

// fullEvery is how often a collection is listed whole although the server reports changes. Servers forget changes, and
// some of them then answer with what there is, from which a deletion cannot be seen.
const fullEvery = 7 * 24 * time.Hour

// changes compares a collection with what is remembered of it.
func (a *Account) changes(ctx context.Context, c Collection, m *memory) (changes, error) {
	again := m.again(c)
	due := a.setup.Now().Sub(time.Unix(m.Full, 0)) >= fullEvery
	switch {
	case due: // everything is listed
	case m.Token != "" && m.Token == c.token, m.Token == "" && c.token == "" && m.CTag != "" && m.CTag == c.ctag:
		return changes{fetch: again, token: m.Token, ctag: m.CTag}, nil
	case m.Token != "":
		out, err := a.since(ctx, c, m)
		if !errors.Is(err, errToken) {
			return out.with(again), err
		}
		a.setup.Log.Info("the server no longer knows what changed: comparing by ETag")
	}
	out, err := a.whole(ctx, c, m)
	return out.with(again), err
}

func (c changes) with(again []member) changes {
	for _, o := range again {
		if !slices.ContainsFunc(c.fetch, func(m member) bool { return m.path == o.path }) {
			c.fetch = append(c.fetch, o)
		}
	}
	return c
}

// again gives the objects that earlier runs could not read.
func (m *memory) again(c Collection) []member {
	var out []member
	for _, path := range m.Again {
		if strings.HasPrefix(path, c.Path) {
			out = append(out, member{path: path})
		}
	}
	return out
}

// since asks for what has changed since the token.
func (a *Account) since(ctx context.Context, c Collection, m *memory) (changes, error) {
	present, removed, token, err := a.sync(ctx, c, m.Token)
	if err != nil {
		return changes{}, err
	}
	out := changes{token: token, ctag: c.ctag, fetch: m.changed(present)}
	if len(out.fetch) < len(present) || 2*len(present) > len(m.objects) && len(m.objects) > 0 {
		// Something on it has not changed, or most of everything has: this may be a list of what there is.
		return changes{}, errToken
	}
	for path := range removed {
		out.gone = append(out.gone, markOf(path))
	}
	return out, nil
}

// whole lists all of a collection. What is remembered and not listed is gone, if a
// second list of another kind does not have it either.
func (a *Account) whole(ctx context.Context, c Collection, m *memory) (changes, error) {
	present, _, token, err := a.sync(ctx, c, "")
	if errors.Is(err, errUnsupported) || errors.Is(err, errToken) {
		present, token, err = nil, "", nil
	}
	if err != nil {
		return changes{}, err
	}
	if present == nil {
		if present, err = a.list(ctx, c); err != nil {
			return changes{}, err
		}
	}
	out := changes{token: token, ctag: c.ctag, fetch: m.changed(present), full: a.setup.Now().Unix()}
	out.gone = m.missing(present)
	if len(out.gone) == 0 {
		return out, nil
	}
	second, err := a.list(ctx, c)
	if err != nil {
		return changes{}, err
	}
	maps.Copy(second, present)
	out.gone = m.missing(second)
	return out, nil
}

// changed gives the listed objects whose version is not the one that was read.
func (m *memory) changed(present map[string]string) []member {
	var out []member
	for _, path := range slices.Sorted(maps.Keys(present)) {
		v := versionOf(present[path])
		if known, have := m.objects[markOf(path)]; !have || v == (version{}) || known.version != v {
			out = append(out, member{path, present[path]})
		}
	}
	return out
}

// missing gives the remembered objects that are not listed.
func (m *memory) missing(present map[string]string) []pathMark {
	left := maps.Clone(m.objects)
	for path := range present {
		delete(left, markOf(path))
	}
	return slices.SortedFunc(maps.Keys(left), func(x, y pathMark) int { return slices.Compare(x[:], y[:]) })
}

var (
	errToken       = errors.New("the sync token is no longer valid")
	errUnsupported = errors.New("the server has no sync-collection")
)

// sync makes the sync-collection report (RFC 6578), in as many parts as the server gives
// it. Present has the ETag of each path, removed what is no more.
func (a *Account) sync(ctx context.Context, c Collection, token string) (present map[string]string, removed map[string]bool, next string, err error) {
	present, removed = map[string]string{}, map[string]bool{}
	for range maxPages {
		body := `<sync-collection xmlns="DAV:"><sync-token>` + escape(token) + `</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>`
		m, resp, err := a.send(ctx, "REPORT", c.Path, "0", body)
		if err != nil {
			return nil, nil, "", reportFailure(resp, err)
		}
		more := false
		for _, r := range m.Responses {
			at, ok := pathOf(r.Href)
			switch {
			case !ok:
			case at == c.Path || at+"/" == c.Path:
				more = more || status(r.Status) == http.StatusInsufficientStorage
			case status(r.Status) == http.StatusNotFound || status(r.Status) == http.StatusGone:
				delete(present, at)
				removed[at] = true
			case c.has(at):
				delete(removed, at)
				present[at] = r.found().ETag
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
	return nil, nil, "", connectorkit.Fail(connectorkit.Malformed, errForm)
}

// reportFailure tells a token that ran out, and a server without the report, from a failure.
func reportFailure(resp *governhttp.Response, err error) error {
	var e *connectorkit.Error
	if resp == nil || !errors.As(err, &e) {
		return err
	}
	if bytes.Contains(resp.Body, []byte("valid-sync-token")) {
		return errToken
	}
	switch e.Class {
	case connectorkit.Malformed:
		if resp.Status >= 400 {
			return errUnsupported
		}
	case connectorkit.Forbidden:
		if bytes.Contains(resp.Body, []byte("supported-report")) || bytes.Contains(resp.Body, []byte("number-of-matches-within-limits")) {
			return errUnsupported
		}
	}
	return err
}

// list asks for every object of a collection with its ETag.
func (a *Account) list(ctx context.Context, c Collection) (map[string]string, error) {
	m, err := a.propfind(ctx, c.Path, "1", `<resourcetype/><getetag/><getlastmodified/>`)
	if err != nil {
		return nil, err
	}
	present := map[string]string{}
	for _, r := range m.Responses {
		p := r.found()
		if at, ok := pathOf(r.Href); ok && c.has(at) && !p.is("DAV:", "collection") {
			present[at] = p.ETag
			if p.ETag == "" {
				present[at] = p.Modified
			}
		}
	}
	return present, nil
}

// has tells whether a path is that of an object right in the collection.
func (c Collection) has(path string) bool {
	name, below := strings.CutPrefix(path, c.Path)
	return below && name != "" && !strings.Contains(name, "/")
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
