package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
)

// grantTokenPrefix begins the token of every grant.
const grantTokenPrefix = "pdpp_gt_"

// WithReader is WithOwner for a command that needs no more than Streams and Export. With the token of a grant both
// have what the grant allows, and every other operation is refused.
func (inv *Invocation) WithReader(do func(ctx context.Context, o api.Owner, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := inv.RemoteServer()
		if err != nil || r == nil || !strings.HasPrefix(r.Token, grantTokenPrefix) {
			return inv.WithOwner(do)(cmd, args)
		}
		reader := &grantReader{client: api.NewClient(r.URL, r.Token, nil)}
		reader.Invoke = func(context.Context, string, []any, ...any) error {
			return &api.Error{Status: http.StatusForbidden, Code: "insufficient_scope",
				Message: "The token of a grant only reads.", Next: "Name connections by their ids, or use the owner's token."}
		}
		return do(cmd.Context(), reader, args)
	}
}

// grantReader reads what a grant allows.
type grantReader struct {
	api.Proxy
	client *api.Client
}

// Streams lists the granted streams with their granted fields.
func (g *grantReader) Streams(ctx context.Context, connectionID string) (all []api.Stream, err error) {
	var found struct {
		Data []struct {
			ConnectionID string          `json:"connection_id"`
			Name         string          `json:"name"`
			Schema       json.RawMessage `json:"schema"`
		} `json:"data"`
	}
	query := url.Values{}
	if connectionID != "" {
		query.Set("connection_id", connectionID)
	}
	err = g.get(ctx, []string{"v1", "schema"}, query, &found)
	for _, s := range found.Data {
		stream := api.Stream{ConnectionID: s.ConnectionID, Name: s.Name}
		stream.Fields, stream.FieldKinds = declaration.Fields(jsontext.Value(s.Schema))
		all = append(all, stream)
	}
	return all, err
}

// Export writes the granted records of one stream as JSON lines, the oldest change first.
func (g *grantReader) Export(ctx context.Context, w io.Writer, q api.ExportQuery) error {
	query := url.Values{"connection_id": {q.ConnectionID}, "order": {"asc"}, "limit": {"100"}}
	encoder := json.NewEncoder(w)
	for {
		var page struct {
			Data []struct {
				ID        string          `json:"id"`
				Data      json.RawMessage `json:"data"`
				EmittedAt time.Time       `json:"emitted_at"`
			} `json:"data"`
			Next string `json:"next_cursor"`
		}
		if err := g.get(ctx, []string{"v1", "streams", q.Stream, "records"}, query, &page); err != nil {
			return err
		}
		for _, r := range page.Data {
			if err := encoder.Encode(api.Record{ConnectionID: q.ConnectionID, Stream: q.Stream, Key: r.ID, Data: r.Data,
				EmittedAt: r.EmittedAt}); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query.Set("cursor", page.Next)
	}
}

// get waits as long as the grant has no reads left.
func (g *grantReader) get(ctx context.Context, path []string, query url.Values, into any) error {
	for {
		err := g.client.Get(ctx, path, query, into)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
