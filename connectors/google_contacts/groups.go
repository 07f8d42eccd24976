package googlecontacts

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// groups reads a page of the labels.
func (a *api) groups(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	me, err := a.account(ctx)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	q := url.Values{"pageSize": {pageSize}, "groupFields": {"groupType,memberCount,name"}}
	if v.Token != "" {
		q.Set("pageToken", v.Token)
	}
	var wire struct {
		Groups *[]jsontext.Value `json:"contactGroups"`
		Next   string            `json:"nextPageToken"`
	}
	if err := a.get(ctx, "contactGroups", q, &wire); err != nil {
		return connectorkit.InventoryPage{}, err
	}
	if wire.Groups == nil { // everybody has those of Google's own
		return connectorkit.InventoryPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := connectorkit.InventoryPage{Next: wire.Next, View: me}
	for _, raw := range *wire.Groups {
		out.Things = append(out.Things, readGroup(raw))
	}
	return out, nil
}
