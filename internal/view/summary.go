package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Summary counts connections. Each connection is in exactly one of WithData, WithoutData and DataNotMeasured, in
// exactly one of Attention, Advisory and Calm, and in exactly one of the seven states. Stalled and Checking overlap
// those.
type Summary struct {
	Registered      int `json:"registered_total"`
	WithData        int `json:"registered_with_data"`
	WithoutData     int `json:"registered_without_data"`
	DataNotMeasured int `json:"registered_data_not_measured"`

	// By the verdict's channel.
	Attention int `json:"attention"`
	Advisory  int `json:"advisory"`
	Calm      int `json:"calm"`

	// By the headline state.
	NeedsAttention int `json:"needs_attention"`
	Blocked        int `json:"blocked"`
	Degraded       int `json:"degraded"`
	CoolingOff     int `json:"cooling_off"`
	Unknown        int `json:"unknown"`
	Idle           int `json:"idle"`
	Healthy        int `json:"healthy"`

	Stalled  int `json:"stalled"`  // a device's uploads are stalled
	Checking int `json:"checking"` // the pill is grey

	// Visible counts the connections that an owner would want to see: those above calm and those with a problem.
	Visible int `json:"attention_visible"`
	// NothingToSee is false while a connection is visible or unknown, or the runtime is at fault.
	NothingToSee bool `json:"nothing_to_see"`
}

// Summarize counts the connections.
func Summarize(all []Connection, indicator *RuntimeIndicator) Summary {
	s := Summary{Registered: len(all)}
	for i := range all {
		c := &all[i]
		*s.population(c)++
		*s.channel(c.Verdict.Channel)++
		*s.state(c.Health.State)++
		if c.Health.Axes.Outbox == health.OutboxStalled {
			s.Stalled++
		}
		if c.Verdict.Pill.Tone == verdict.Grey {
			s.Checking++
		}
		if isVisible(c) {
			s.Visible++
		}
	}
	s.NothingToSee = s.Visible == 0 && s.Unknown == 0 && indicator == nil
	return s
}

func (s *Summary) population(c *Connection) *int {
	switch {
	case c.TotalRecords == nil:
		return &s.DataNotMeasured
	case *c.TotalRecords > 0:
		return &s.WithData
	default:
		return &s.WithoutData
	}
}

func (s *Summary) channel(c verdict.Channel) *int {
	switch c {
	case verdict.Attention:
		return &s.Attention
	case verdict.Advisory:
		return &s.Advisory
	default:
		return &s.Calm
	}
}

func (s *Summary) state(st health.State) *int {
	switch st {
	case health.NeedsAttention:
		return &s.NeedsAttention
	case health.Blocked:
		return &s.Blocked
	case health.Degraded:
		return &s.Degraded
	case health.CoolingOff:
		return &s.CoolingOff
	case health.Idle:
		return &s.Idle
	case health.Healthy:
		return &s.Healthy
	default:
		return &s.Unknown
	}
}

// troubledStates are always visible in a summary.
var troubledStates = []health.State{health.NeedsAttention, health.Blocked, health.Degraded, health.CoolingOff}

func isVisible(c *Connection) bool {
	return c.Verdict.Channel != verdict.Calm || c.Health.Axes.Outbox == health.OutboxStalled ||
		slices.Contains(troubledStates, c.Health.State)
}

var (
	channelOrder = []verdict.Channel{verdict.Attention, verdict.Advisory, verdict.Calm}
	toneOrder    = []verdict.Tone{verdict.Red, verdict.Amber, verdict.Grey, verdict.Green}
)

// sortForPeople puts connections that need the owner first, the worst of them first. It sorts indexes because
// connections are large.
func sortForPeople(all []Connection) []Connection {
	type place struct{ index, channel, tone int }
	places := make([]place, len(all))
	for i := range all {
		v := &all[i].Verdict
		places[i] = place{i, slices.Index(channelOrder, v.Channel), slices.Index(toneOrder, v.Pill.Tone)}
	}
	slices.SortFunc(places, func(a, b place) int {
		x, y := &all[a.index], &all[b.index]
		return cmp.Or(
			cmp.Compare(a.channel, b.channel), cmp.Compare(a.tone, b.tone),
			strings.Compare(x.DisplayName, y.DisplayName), strings.Compare(x.ID, y.ID),
		)
	})
	out := make([]Connection, len(all))
	for i, p := range places {
		out[i] = all[p.index]
	}
	return out
}
