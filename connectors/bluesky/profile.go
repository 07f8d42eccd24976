package bluesky

import (
	"context"
	"errors"
	"maps"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

type profileRecord struct {
	ID          string      `json:"id"`
	Handle      string      `json:"handle"`
	DisplayName string      `json:"display_name,omitzero"`
	Description string      `json:"description,omitzero"`
	Avatar      *recordFile `json:"avatar,omitzero"`
	Banner      *recordFile `json:"banner,omitzero"`
	PinnedURI   string      `json:"pinned_uri,omitzero"`
	CreatedAt   string      `json:"created_at,omitzero"`
}

// profilePage reads the account's profile. The handle comes from the session; an account that never wrote a profile
// has only that. The bookmark holds the digest of the profile that was sent last.
func (a *blueskyAccount) profilePage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	var found repositoryEntry
	err := a.getJSON(ctx, "com.atproto.repo.getRecord",
		url.Values{"collection": {"app.bsky.actor.profile"}, "rkey": {"self"}},
		&found)
	var e *connectorkit.Error
	if errors.As(err, &e) && e.Class == connectorkit.NotFound {
		found, err = repositoryEntry{}, nil
	} else if err == nil && len(found.Value) == 0 {
		err = connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	var v struct {
		DisplayName string          `json:"displayName"`
		Description string          `json:"description"`
		Avatar      *blobReference  `json:"avatar"`
		Banner      *blobReference  `json:"banner"`
		Pinned      recordReference `json:"pinnedPost"`
		CreatedAt   string          `json:"createdAt"`
	}
	record := connectorkit.Unreadable(a.did, nil)
	if len(found.Value) == 0 || json.Unmarshal(found.Value, &v) == nil {
		record = connectorkit.Upsert(profileRecord{
			a.did, a.handle, v.DisplayName, v.Description, v.Avatar.toRecordFile(""), v.Banner.toRecordFile(""), v.Pinned.URI,
			validTime(v.CreatedAt),
		})
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"did": a.did, "handle": a.handle, "cid": found.CID}}
	if !maps.Equal(at, page.Next) {
		page.Records = []connectorkit.Record{record}
	}
	return page, nil
}
