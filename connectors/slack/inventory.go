package slack

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// inventory is a list that is read whole in every run: nothing announces what left it.
type inventory struct {
	*api
	method, member string
	read           func(jsontext.Value) connectorkit.ListItem
}

// kinds are those of conversations that are asked for.
const kinds = "public_channel,private_channel,mpim,im"

func (l inventory) page(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	if err := l.know(ctx); err != nil {
		return connectorkit.InventoryPage{}, err
	}
	got, err := l.list(ctx, l.lists, l.method, l.member, listed(l.method, v.Token))
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	out := connectorkit.InventoryPage{Next: got.next, View: l.me.account()}
	for _, raw := range got.rows {
		out.Things = append(out.Things, l.read(raw))
	}
	return out, nil
}

func listed(method, cursor string) url.Values {
	q := url.Values{"limit": {pageSize}}
	if method == "conversations.list" {
		q.Set("types", kinds)
		q.Set("exclude_archived", "false")
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return q
}

// files reads what is known of the files, by the numbers of pages.
func (a *api) files(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	return a.numbered(ctx, v, numberedList{"files", "files.list", "files"}, readFile)
}

// workspace is the one that the token belongs to.
func (a *api) workspace(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	if err := a.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	var wire struct {
		Team jsontext.Value `json:"team"`
	}
	if _, err := call(ctx, a.lists, "team.info", nil, &wire); err != nil {
		return connectorkit.Page{}, err
	}
	var team struct {
		ID             string  `json:"id"`
		Name           *string `json:"name"`
		Domain         *string `json:"domain"`
		EmailDomain    *string `json:"email_domain"`
		EnterpriseName *string `json:"enterprise_name"`
		Icon           struct {
			Image *string `json:"image_132"`
		} `json:"icon"`
	}
	if json.Unmarshal(wire.Team, &team) != nil || team.ID == "" {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	return connectorkit.Page{
		Records: []connectorkit.Record{connectorkit.Upsert(workspaceRecord{
			ID: team.ID, Name: team.Name, Domain: team.Domain, EmailDomain: team.EmailDomain, EnterpriseID: a.me.EnterpriseID, EnterpriseName: team.EnterpriseName,
			URL: a.me.URL, Icon: team.Icon.Image, UserID: a.me.UserID, User: a.me.User, BotID: a.me.BotID,
		})},
		Next: connectorkit.Cursor{"id": team.ID},
	}, nil
}
