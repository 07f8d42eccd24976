package collector

import (
	"slices"

	"github.com/pdpp-go/pdpp/protocol"
)

// inOrder lists the least often tried gaps first, so that none starves.
func (l *gapLedger) inOrder() []*ledgerGap {
	out := make([]*ledgerGap, 0, len(l.gaps))
	for _, g := range l.gaps {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *ledgerGap) int {
		if a.Attempts != b.Attempts {
			return a.Attempts - b.Attempts
		}
		return int(a.order - b.order)
	})
	return out
}

// lease hands out gaps that this run has not had.
func (l *gapLedger) lease(streams []string, limit int) []protocol.GapEntry {
	var out []protocol.GapEntry
	for _, g := range l.inOrder() {
		if len(out) == limit {
			break
		}
		if !g.Retryable || l.served[g.GapID] || !slices.Contains(streams, g.Stream) {
			continue
		}
		l.served[g.GapID] = true
		out = append(out, protocol.GapEntry{GapID: g.GapID, LeaseID: "lease_" + g.GapID, Stream: g.Stream,
			ParentStream: g.ParentStream,
			RecordKey:    protocol.WireKey(g.RecordKey), DetailLocator: g.Locator, Status: protocol.GapPending,
			ReferenceOnly: true})
	}
	return out
}

func (l *gapLedger) release(ids []string) {
	for _, id := range ids {
		delete(l.served, id)
	}
}

// accounted returns the subset of keys that have an open gap.
func (l *gapLedger) accounted(stream, parent string, keys []string) map[string]bool {
	stands := map[string]bool{}
	for _, g := range l.gaps {
		if g.Stream == stream && g.ParentStream == parent && g.RecordKey != "" {
			stands[g.RecordKey] = true
		}
	}
	out := map[string]bool{}
	for _, key := range keys {
		if stands[key] {
			out[key] = true
		}
	}
	return out
}
