// Package miniflux collects a person's feed reader: categories, feeds and entries, with what was
// read and what was starred.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	miniflux.go     where the lists are, and what becomes of their members
//	entries.go      what is new and what changed
//	deletionscan.go deleted entries, found by counting
package miniflux

import (
	"bytes"
	_ "embed"
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Miniflux connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	Base:    rest.ServerURL("MINIFLUX_URL", "/v1"),
	Auth:    rest.HeaderKey{Header: "X-Auth-Token", Variable: "MINIFLUX_API_KEY"},
	Header:  http.Header{"User-Agent": {"pdpp-miniflux-connector/1.0"}},
	QuotaOf: []string{"MINIFLUX_URL", "MINIFLUX_API_KEY"},
	MaxBody: 64 << 20, // a hundred articles of the sizes that feeds have
	Inspect: inspectAnswer,
	// The digest of a list has only the collected members: the rest changes with every update of a feed.
	Streams: []rest.Stream{
		{Name: "categories", Request: rest.Request{Path: "categories"}, Sync: rest.FullList{Digest: true},
			Fields: rest.Fields{"id": rest.NumberText("id"), "hidden": hidden}},
		// Names, passwords and cookies for the feed's site, and the time of the last fetch, are no part of a subscription.
		{Name: "feeds", Request: rest.Request{Path: "feeds"}, Sync: rest.FullList{Digest: true},
			Fields: rest.Fields{"id": rest.NumberText("id"), "hidden": hidden, "disabled": rest.From("disabled").OrElse("false"),
				"category_id": rest.NumberText("category.id"), "description": nonEmpty("description"),
				"site_url": nonEmpty("site_url")}},
		{Name: "entries", Collect: collectEntries,
			Fields: rest.Fields{"id": rest.NumberText("id"), "feed_id": rest.NumberText("feed_id"),
				"comments_url": nonEmpty("comments_url"), "author": nonEmpty("author"), "content": nonEmpty("content"),
				"tags": nonEmpty("tags"), "published_at": rest.From("published_at").UTC(),
				"created_at": rest.From("created_at").UTC(), "changed_at": rest.From("changed_at").UTC(),
				"starred": rest.From("starred").OrElse("false"), "enclosures": rest.Computed(enclosures),
				"reading_minutes": rest.Computed(func(item rest.Item) (jsontext.Value, error) {
					return nonZero(item.Member("reading_time")), nil
				})}},
	},
}

var hidden = rest.From("hide_globally").OrElse("false")

func nonEmpty(name string) rest.Field { return rest.From(name).NonEmpty() }

// nonZero returns a number other than zero, or nil.
func nonZero(v jsontext.Value) jsontext.Value {
	if string(v) == "0" || v.Kind() == 'n' {
		return nil
	}
	return v
}

// enclosures are the files that an entry points at, such as an episode of a podcast.
func enclosures(item rest.Item) (jsontext.Value, error) {
	var files []struct {
		URL      string `json:"url"`
		MIMEType string `json:"mime_type"`
		Size     int64  `json:"size"`
		Position int64  `json:"media_progression"`
	}
	raw := item.Member("enclosures")
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &files); err != nil || len(files) == 0 {
		return nil, err
	}
	type enclosureRecord struct {
		URL      string `json:"url"`
		MIMEType string `json:"mime_type,omitzero"`
		Bytes    int64  `json:"size_bytes,omitzero"`
		Position int64  `json:"position_seconds,omitzero"` // how far it was played
	}
	var out []enclosureRecord
	for _, f := range files {
		out = append(out, enclosureRecord{f.URL, f.MIMEType, f.Size, f.Position})
	}
	return json.Marshal(out)
}

var errUnexpectedShape = errors.New("the answer does not come from a Miniflux server")

// inspectAnswer rejects what is not from Miniflux, and replaces bytes of feeds that are no text.
func inspectAnswer(r *governhttp.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Status == http.StatusOK && kind != "application/json" {
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	r.Body = bytes.ToValidUTF8(r.Body, []byte("\uFFFD"))
	return nil
}
