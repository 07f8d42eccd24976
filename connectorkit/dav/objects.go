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

// multigetBatch is how many objects are asked for at once.
const multigetBatch = 100

// fetchedObjects is what became of the members that were asked for. A member that was deleted since it was listed
// is in neither: the next list or report contains it.
type fetchedObjects struct {
	objects []Object
	large   []listedObject // too large to be read
}

// fetchObjects fetches members. It requests members that the server left out again, one by one.
func (a *Account) fetchObjects(ctx context.Context, c Collection, members []listedObject) (fetchedObjects, error) {
	var out fetchedObjects
	if len(members) == 1 {
		return out, a.fetchObject(ctx, members[0], &out)
	}
	answer, err := a.multiget(ctx, c, members)
	var big *governhttp.Error
	switch {
	case errors.As(err, &big) && big.Kind == governhttp.TooLarge, refusedWhole(err):
		for _, half := range [][]listedObject{members[:len(members)/2], members[len(members)/2:]} {
			part, err := a.fetchObjects(ctx, c, half)
			if err != nil {
				return fetchedObjects{}, err
			}
			out.objects, out.large = append(out.objects, part.objects...), append(out.large, part.large...)
		}
		return out, nil
	case err != nil:
		return fetchedObjects{}, err
	}
	for _, m := range members {
		o, reported := answer[m.path]
		switch {
		case reported && o != nil:
			o.etag = listedVersion(m, o.etag)
			out.objects = append(out.objects, *o)
		case !reported:
			if err := a.fetchObject(ctx, m, &out); err != nil {
				return fetchedObjects{}, err
			}
		}
	}
	return out, nil
}

// refusedWhole reports whether a server wants fewer objects at a time, or does not support the report.
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

// multiget asks for many objects in one request. An object that the server reports as not
// there has no content.
func (a *Account) multiget(ctx context.Context, c Collection, members []listedObject) (map[string]*Object, error) {
	var body strings.Builder
	body.WriteString(`<k:` + a.kind.Multiget + ` xmlns="DAV:" xmlns:k="` + a.kind.Space + `"><prop><getetag/><k:` +
		a.kind.Data + `/></prop>`)
	for _, m := range members {
		target := url.URL{Path: m.path}
		body.WriteString(`<href>` + escapeXML(target.EscapedPath()) + `</href>`)
	}
	body.WriteString(`</k:` + a.kind.Multiget + `>`)
	m, _, err := a.sendRequest(ctx, "REPORT", c.Path, "1", body.String())
	if err != nil {
		return nil, err
	}
	out := map[string]*Object{}
	for _, r := range m.Responses {
		at, ok := pathFromHref(r.Href)
		if !ok || !c.containsPath(at) {
			continue
		}
		if code := statusCode(r.Status); code == http.StatusNotFound || code == http.StatusGone {
			out[at] = nil
			continue
		}
		p := r.foundProperties()
		if text := p.Calendar + p.Card; text != "" {
			out[at] = &Object{Path: at, Text: []byte(text), etag: p.ETag}
		}
	}
	return out, nil
}

// fetchObject fetches one.
func (a *Account) fetchObject(ctx context.Context, m listedObject, out *fetchedObjects) error {
	target := url.URL{Path: m.path}
	resp, err := a.client.Do(ctx, governhttp.Request{URL: a.origin + target.EscapedPath()})
	var big *governhttp.Error
	var e *connectorkit.Error
	switch {
	case err == nil:
		out.objects = append(out.objects,
			Object{Path: m.path, Text: resp.Body, etag: listedVersion(m, resp.Header.Get("ETag"))})
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

// listedVersion is the version to remember: the one that the list has. An object that changed
// since then is met again, by the next list or report.
func listedVersion(m listedObject, own string) string {
	if m.etag == "" {
		return own
	}
	return m.etag
}
