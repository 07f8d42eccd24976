package dav

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Object is one object of a collection.
type Object struct {
	Path string
	Text []byte // as it is kept at the server
	etag string
}

// batch is how many objects are asked for at once.
const batch = 100

// got is what became of the members that were asked for. A member that was deleted since it was listed
// is in neither: the next list or report contains it.
type got struct {
	objects []Object
	large   []member // too large to be read
}

// objects fetches members. A server that leaves some out is asked for those alone.
func (a *Account) objects(ctx context.Context, c Collection, members []member) (got, error) {
	var out got
	if len(members) == 1 {
		return out, a.object(ctx, members[0], &out)
	}
	answer, err := a.multiget(ctx, c, members)
	var big *governhttp.Error
	switch {
	case errors.As(err, &big) && big.Kind == governhttp.TooLarge, refusedWhole(err):
		for _, half := range [][]member{members[:len(members)/2], members[len(members)/2:]} {
			part, err := a.objects(ctx, c, half)
			if err != nil {
				return got{}, err
			}
			out.objects, out.large = append(out.objects, part.objects...), append(out.large, part.large...)
		}
		return out, nil
	case err != nil:
		return got{}, err
	}
	for _, m := range members {
		o, told := answer[m.path]
		switch {
		case told && o != nil:
			o.etag = listed(m, o.etag)
			out.objects = append(out.objects, *o)
		case !told:
			if err := a.object(ctx, m, &out); err != nil {
				return got{}, err
			}
		}
	}
	return out, nil
}

// refusedWhole tells whether a server wants fewer objects at a time, or none of them this way.
func refusedWhole(err error) bool {
	var e *connectorkit.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Class {
	case connectorkit.Forbidden, connectorkit.NotFound, connectorkit.Gone:
		return true
	case connectorkit.Malformed:
		return e.Status == 0 || e.Status >= 400 // of a form that cannot be read, or refused
	}
	return false
}

// multiget asks for many objects in one request. An object that the server says is not
// there has no content.
func (a *Account) multiget(ctx context.Context, c Collection, members []member) (map[string]*Object, error) {
	var body strings.Builder
	body.WriteString(`<k:` + a.kind.Multiget + ` xmlns="DAV:" xmlns:k="` + a.kind.Space + `"><prop><getetag/><k:` + a.kind.Data + `/></prop>`)
	for _, m := range members {
		target := url.URL{Path: m.path}
		body.WriteString(`<href>` + escape(target.EscapedPath()) + `</href>`)
	}
	body.WriteString(`</k:` + a.kind.Multiget + `>`)
	m, _, err := a.send(ctx, "REPORT", c.Path, "1", body.String())
	if err != nil {
		return nil, err
	}
	out := map[string]*Object{}
	for _, r := range m.Responses {
		at, ok := pathOf(r.Href)
		if !ok || !c.has(at) {
			continue
		}
		if code := status(r.Status); code == http.StatusNotFound || code == http.StatusGone {
			out[at] = nil
			continue
		}
		p := r.found()
		if text := p.Calendar + p.Card; text != "" {
			out[at] = &Object{Path: at, Text: []byte(text), etag: p.ETag}
		}
	}
	return out, nil
}

// object fetches one.
func (a *Account) object(ctx context.Context, m member, out *got) error {
	target := url.URL{Path: m.path}
	resp, err := a.client.Do(ctx, governhttp.Request{URL: a.origin + target.EscapedPath()})
	var big *governhttp.Error
	var e *connectorkit.Error
	switch {
	case err == nil:
		out.objects = append(out.objects, Object{Path: m.path, Text: resp.Body, etag: listed(m, resp.Header.Get("ETag"))})
	case errors.As(err, &big) && big.Kind == governhttp.TooLarge:
		out.large = append(out.large, m)
	case errors.As(err, &e) && (e.Class == connectorkit.NotFound || e.Class == connectorkit.Gone):
	case errors.As(err, &e) && e.Class == connectorkit.Forbidden:
		out.large = append(out.large, m)
	default:
		return err
	}
	return nil
}

// listed is the version to remember: the one that the list has. An object that changed
// since then is met again, by the next list or report.
func listed(m member, own string) string {
	if m.etag == "" {
		return own
	}
	return m.etag
}
