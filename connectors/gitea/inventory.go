package gitea

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// inventory is a list of repositories; absence is deletion. A page has the digest of what it
// holds as its version.
func (a *api) inventory(stream, path string, read func(jsontext.Value) connectorkit.ListItem) connectorkit.FullList {
	return connectorkit.FullList{Stream: stream,
		Page: func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
			if err := a.know(ctx); err != nil {
				return connectorkit.InventoryPage{}, err
			}
			number, seen := 1, 0
			if at, before, ok := strings.Cut(v.Token, " "); ok {
				number, _ = strconv.Atoi(at) // they are ours
				seen, _ = strconv.Atoi(before)
			}
			got, err := a.list(ctx, path, url.Values{}, number, perPage)
			if err != nil {
				return connectorkit.InventoryPage{}, err
			}
			page, digest := connectorkit.InventoryPage{View: a.account(), Total: max(0, got.total)}, sha256.New()
			for _, raw := range got.rows {
				page.Things = append(page.Things, read(raw))
				_, _ = digest.Write(raw) // a hash never fails
			}
			if seen += len(got.rows); !got.last(seen) {
				page.Next = strconv.Itoa(number+1) + " " + strconv.Itoa(seen)
			}
			_, _ = digest.Write([]byte(page.Next))
			page.Version = hex.EncodeToString(digest.Sum(nil)[:12])
			page.Unchanged = page.Version == v.Version
			return page, nil
		}}
}
