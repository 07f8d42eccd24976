package spotify

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// list is a list that is paged by offset and read whole in every run: nothing announces what left it.
type list struct {
	*api
	path string
	read func(jsontext.Value) connectorkit.ListItem
}

func (l list) page(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	me, err := l.account(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	target := v.Token
	if target == "" {
		target = l.path + "?limit=" + pageSize
	}
	got, err := l.list(ctx, target)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	out := connectorkit.InventoryPage{Next: got.next, View: me, Total: got.total}
	for _, raw := range got.rows {
		if raw.Kind() == 'n' {
			out.Passed++
			continue // a playlist that Spotify makes, of which it gives nothing
		}
		out.Things = append(out.Things, l.read(raw))
	}
	return out, nil
}

// ranges are the spans of time of the top lists, as Spotify calls them.
var ranges = []string{"short_term", "medium_term", "long_term"}

// top reads the lists of top artists or tracks one after another.
type top struct {
	*api
	kind string // artists, tracks
	read func(raw jsontext.Value, span string) connectorkit.ListItem
}

func (t *top) page(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	span, target, _ := strings.Cut(v.Token, " ")
	if span == "" {
		span = ranges[0]
	}
	if target == "" {
		target = "v1/me/top/" + t.kind + "?limit=" + pageSize + "&time_range=" + span
	}
	read := func(raw jsontext.Value) connectorkit.ListItem { return t.read(raw, span) }
	out, err := list{t.api, "", read}.page(ctx, connectorkit.PageRequest{Token: target})
	if err != nil {
		return out, err
	}
	out.Total = 0 // it is that of one list of three
	switch at := slices.Index(ranges, span) + 1; {
	case out.Next != "":
		out.Next = span + " " + out.Next
	case at < len(ranges):
		out.Next = ranges[at]
	}
	return out, nil
}

// topKey is the key of an artist or a track in one of the lists.
func topKey(id, span string) string { return protocol.CompoundKey(id, span) }
