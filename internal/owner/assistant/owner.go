// Package assistant answers assistants of the owner with what grants may not know, and operates for them.
package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Facts are the owner's operations that an assistant uses.
type Facts interface {
	Overview(ctx context.Context) (view.Overview, error)
	Kept(ctx context.Context) (api.Kept, error)
	Record(ctx context.Context, connectionID, stream, key string) (api.Record, []api.Record, error)
	Run(ctx context.Context, connectionID string) error
	RetryGap(ctx context.Context, id string) (api.Gap, error)
	Why(ctx context.Context, id string) (view.Explanation, error)
}

// Owner implements mcp.Owner and mcp.Operator over the owner's operations. Words about the state of a connection are
// those of its verdict.
type Owner struct{ Facts Facts }

var (
	_ mcp.Owner    = Owner{}
	_ mcp.Operator = Owner{}
)

const mostRanges = 10

// Missing implements mcp.Owner.
func (o Owner) Missing(ctx context.Context, connectionID string) ([]mcp.Missing, error) {
	kept, err := o.Facts.Kept(ctx)
	if err != nil {
		return nil, err
	}
	overview, err := o.Facts.Overview(ctx)
	if err != nil {
		return nil, err
	}
	verdicts := map[string]*view.Connection{}
	for i := range overview.Connections {
		verdicts[overview.Connections[i].ID] = &overview.Connections[i]
	}
	var out []mcp.Missing
	for _, s := range kept.Incomplete(connectionID) {
		m := mcp.Missing{Connection: s.ConnectionID, Name: s.Name, Records: s.Records, Missing: s.Missing, Reason: s.Say}
		if c := verdicts[s.ConnectionID]; c != nil {
			m.State, m.Statement = c.Verdict.Pill.Label, c.Verdict.ForwardStatement
		}
		for _, span := range s.Covered {
			if !span.Whole && len(m.Ranges) < mostRanges {
				m.Ranges = append(m.Ranges, strings.TrimSuffix(span.From+" to "+span.To+": "+span.Why, ": "))
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// Versions implements mcp.Owner.
func (o Owner) Versions(ctx context.Context, connectionID, stream, id string) ([]mcp.Version, error) {
	_, earlier, err := o.Facts.Record(ctx, connectionID, stream, id)
	if err != nil {
		return nil, err
	}
	out := make([]mcp.Version, len(earlier))
	for i, r := range earlier {
		out[i] = mcp.Version{At: r.ChangedAt.UTC().Format(time.RFC3339), Data: r.Data}
	}
	return out, nil
}

// RunNow implements mcp.Operator.
func (o Owner) RunNow(ctx context.Context, connectionID string) (string, error) {
	return answered("The source will be asked for new data now.", o.Facts.Run(ctx, connectionID))
}

// RetryGap implements mcp.Operator.
func (o Owner) RetryGap(ctx context.Context, gapID string) (string, error) {
	_, err := o.Facts.RetryGap(ctx, gapID)
	return answered("The next run tries it again.", err)
}

// Why implements mcp.Operator.
func (o Owner) Why(ctx context.Context, connectionID string) (string, error) {
	why, err := o.Facts.Why(ctx, connectionID)
	if err != nil {
		return answered("", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.", why.Connection.DisplayName, why.Connection.Verdict.Pill.Label)
	if s := why.Connection.Verdict.ForwardStatement; s != "" {
		b.WriteString(" " + s)
	}
	for _, s := range why.Steps {
		fmt.Fprintf(&b, "\n- %s (%s)", s.Fact, s.Result)
	}
	return b.String(), nil
}

// answered returns a refusal for the owner as the result: nothing went wrong in the server.
func answered(done string, err error) (string, error) {
	var refused *api.Error
	if errors.As(err, &refused) {
		return strings.TrimSpace(refused.Message + " " + refused.Next), nil
	}
	return done, err
}
