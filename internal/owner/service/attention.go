package service

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Attention lists what the owner is asked to do, with the questions of runs.
func (s *Service) Attention(ctx context.Context, q api.AttentionQuery) (api.Attention, error) {
	records, err := s.Store.Attention(ctx, store.AttentionQuery{All: q.All})
	if err != nil {
		return api.Attention{}, faults.OwnerError(err, "list what is asked of the owner")
	}
	questions, err := s.Store.OpenInteractions(ctx, "")
	if err != nil {
		return api.Attention{}, faults.OwnerError(err, "read the open questions")
	}
	now := s.Now()
	questions = slices.DeleteFunc(questions, func(q store.Interaction) bool {
		return q.ExpiresAt != nil &&
			!q.ExpiresAt.After(now)
	})
	slices.SortStableFunc(questions, func(x, y store.Interaction) int { return x.OpenedAt.Compare(y.OpenedAt) })
	return withQuestions(records, questions), nil
}

// withQuestions puts each question to the record that asks for its answer.
func withQuestions(records []attention.AttentionRecord, questions []store.Interaction) api.Attention {
	out := api.Attention{Items: []api.AttentionItem{}, Other: []api.OpenQuestion{}}
	about := map[string]int{}
	for _, r := range records {
		if r.Open() {
			for name := range strings.SplitSeq(r.Occasion, ",") {
				about[r.ConnectionID+" "+name] = len(out.Items)
			}
		}
		out.Items = append(out.Items, api.AttentionItem{AttentionRecord: r, Questions: []api.OpenQuestion{}})
	}
	for _, q := range questions {
		shown := api.OpenQuestion{
			RequestID: q.RequestID, RunID: q.RunID, ConnectionID: q.ConnectionID, Kind: string(q.Kind), Message: q.Message,
			Schema: json.RawMessage(q.Schema),
			Stream: q.Stream, Answerable: len(q.Key) > 0, OpenedAt: q.OpenedAt, ExpiresAt: q.ExpiresAt,
		}
		if i, found := about[q.ConnectionID+" "+q.RunID+"/"+q.RequestID]; found {
			out.Items[i].Questions = append(out.Items[i].Questions, shown)
		} else {
			out.Other = append(out.Other, shown)
		}
	}
	return out
}
