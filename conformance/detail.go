package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/protocol"
)

// details returns the detail streams in scope that a stream anchors.
func (d *Dialogue) details(anchor string) []string {
	return slices.DeleteFunc(d.Manifest.DetailStreams(anchor), func(s string) bool { return d.gates[s] == nil })
}

func (d *Dialogue) gap(m *protocol.DetailGap) error {
	if err := d.known(protocol.UndeclaredStream, m.Type(), m.Stream); err != nil {
		return err
	}
	if m.ParentStream == "" {
		if parents := d.gates[m.Stream].Decl.ParentStreams; len(parents) == 1 {
			m.ParentStream = parents[0]
		}
	}
	if m.GapID != "" {
		g, err := d.leased(m.Type(), m.Stream, m.GapID, m.LeaseID)
		if err != nil {
			return err
		}
		g.settled = true
	}
	d.t.Gaps = append(d.t.Gaps, *m)
	return nil
}

func (d *Dialogue) recovered(m *protocol.DetailGapRecovered) error {
	lease := m.LeaseID
	if g := d.served[m.GapID]; lease == "" && g != nil {
		lease = g.LeaseID
	}
	g, err := d.leased(m.Type(), m.Stream, m.GapID, lease)
	if err != nil {
		return err
	}
	g.settled = true
	d.t.Recovered = append(d.t.Recovered, m.GapID)
	return nil
}

func (d *Dialogue) leased(t protocol.MessageType, stream, id, lease string) (*servedGap, error) {
	g := d.served[id]
	if g == nil || g.settled || g.LeaseID != lease || g.Stream != stream {
		return nil, &protocol.Violation{Subtype: protocol.GapLeaseMismatch, MessageType: t, Stream: stream,
			Expected: []string{"a gap served to this run, under its own lease, not yet settled"}}
	}
	return g, nil
}

func (d *Dialogue) cover(m *protocol.DetailCoverage) error {
	for _, s := range []string{m.Stream, m.StateStream} {
		if err := d.known(protocol.UndeclaredStream, m.Type(), s); err != nil {
			return err
		}
	}
	lane, parents := [2]string{m.Stream, m.StateStream}, d.gates[m.Stream].Decl.ParentStreams
	switch {
	case d.coverage[lane] != nil:
		return &protocol.Violation{Subtype: protocol.DuplicateCoverage, MessageType: m.Type(), Stream: m.Stream}
	case len(parents) > 0 && !slices.Contains(parents, m.StateStream):
		return &protocol.Violation{
			Subtype:     protocol.InvalidCoverage,
			MessageType: m.Type(),
			Stream:      m.Stream,
			Expected:    parents,
		}
	}
	d.coverage[lane] = m
	return nil
}

// unaccounted returns the required keys that are neither hydrated nor skipped nor a gap.
func (d *Dialogue) unaccounted(details []string, parent string, k *protocol.KeyCoverage) []string {
	stands := map[string]bool{}
	for _, key := range slices.Concat(k.HydratedKeys, k.OptionalSkipKeys) {
		stands[key] = true
	}
	for _, g := range d.t.Gaps {
		if slices.Contains(details, g.Stream) && (g.ParentStream == parent || g.ParentStream == "") {
			stands[string(g.RecordKey)] = true
		}
	}
	for _, g := range d.served {
		if slices.Contains(details, g.Stream) {
			stands[string(g.RecordKey)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone([]string(k.RequiredKeys)), func(key string) bool { return stands[key] })
}

// settle processes the end of a successful run: staged cursors are stored, unless a lane does not account for
// them.
func (d *Dialogue) settle() {
	for _, id := range slices.Sorted(maps.Keys(d.served)) {
		if g := d.served[id]; g.attempted && !g.settled {
			d.t.fault(
				violationFault(
					&protocol.Violation{Subtype: protocol.AttemptWithoutResult, Stream: g.Stream, Received: "no outcome for " + id},
				),
			)
		}
	}
	for at, cursor := range d.staged {
		if missing := d.lacking(at.stream); missing != "" {
			d.t.fault(Fault{
				Text: fmt.Sprintf("the cursor of %s would not be stored: %s", at.stream, missing),
				Fix: "List the outcome of every listed key in accounted of each STATE, or once in DETAIL_COVERAGE: hydrated, " +
					"skipped, or a DETAIL_GAP.",
			})
			continue
		}
		d.move(at, cursor)
	}
}

// lacking describes what an anchor's lanes do not account for, or returns "".
func (d *Dialogue) lacking(anchor string) string {
	for _, detail := range d.details(anchor) {
		c := d.coverage[[2]string{detail, anchor}]
		skipped := slices.ContainsFunc(d.t.Skips, func(s protocol.SkipResult) bool { return s.Stream == detail })
		if c == nil && !skipped {
			return "nothing accounts for " + detail
		}
		if c != nil {
			if open := d.unaccounted([]string{detail}, anchor, &c.KeyCoverage); len(open) > 0 {
				return fmt.Sprintf("%d keys of %s have no outcome", len(open), detail)
			}
		}
	}
	return ""
}
