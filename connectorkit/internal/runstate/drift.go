package runstate

import (
	"context"

	"github.com/pdpp-go/pdpp/protocol"
)

// driftMessage is the message of a report about responses.
const driftMessage = "answers were compared with what this version expects"

// ReportDrift reports the differences of each stream.
func (r *Run) ReportDrift(ctx context.Context) error {
	for _, s := range r.Start.Scope.Streams {
		if r.Scope[s.Name] == nil {
			continue
		}
		if m := r.Drift.StreamReport(s.Name, r.Budget.Began); m != nil {
			if err := r.Out.Send(ctx, &protocol.Progress{Stream: s.Name, Message: driftMessage, AnswerDrift: m,
				CollectionRate: r.currentRate()}); err != nil {
				return err
			}
		}
	}
	return nil
}
