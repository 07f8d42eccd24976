package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/pace"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Bounds of what a limit can be: what is slower collects nothing, and what is faster
// or longer limits nothing.
const (
	fastestCeiling = 60_000
	slowestCeiling = 0.01
	longestRun     = 7 * 24 * 3600
	mostDetails    = 10_000_000
)

// The members of api.Limits, by their names.
const (
	limitCeiling = "ceiling_per_minute"
	limitSeconds = "max_run_seconds"
	limitWhole   = "max_whole_run_seconds"
	limitDetails = "max_detail_fetches"
)

// The variables that carry them, behind the connector's prefix.
const (
	variableInterval = "_PACING_MIN_INTERVAL_MS"
	variableTime     = "_MAX_RUN_WALL_CLOCK_MS"
	variableWhole    = "_MAX_WHOLE_RUN_WALL_CLOCK_MS"
	variableDetails  = "_MAX_DETAIL_FETCHES_PER_RUN"
)

// keptLimits is the stored form of limits. OwnIntervalMS is the connector's own shortest interval, as reported by
// runs without a ceiling; zero means unknown.
type keptLimits struct {
	CeilingPerMinute float64 `json:"ceiling_per_minute,omitempty"`
	MaxSeconds       int64   `json:"max_run_seconds,omitempty"`
	MaxWholeSeconds  int64   `json:"max_whole_run_seconds,omitempty"`
	MaxDetails       int64   `json:"max_detail_fetches,omitempty"`
	OwnIntervalMS    float64 `json:"own_interval_ms,omitempty"`
}

func limitsSetting(connectionID string) string { return "limits:" + connectionID }

// LimitSettings is what limits are read from.
type LimitSettings interface {
	Setting(ctx context.Context, name string) ([]byte, error)
}

func readLimits(ctx context.Context, st LimitSettings, connectionID string) (keptLimits, error) {
	var kept keptLimits
	body, err := st.Setting(ctx, limitsSetting(connectionID))
	if errors.Is(err, store.ErrNotFound) {
		return kept, nil
	}
	if err != nil {
		return kept, fmt.Errorf("read the limits: %w", err)
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return kept, fmt.Errorf("decode the limits: %w", err)
	}
	return kept, nil
}

// LimitVariables returns a function that reads the owner's limits for a launcher, by variable name without the
// connector's prefix. A ceiling never makes a run faster than the connector's own interval, as far as runs have
// reported it.
func LimitVariables(st LimitSettings) func(ctx context.Context, connectionID string) (map[string]string, error) {
	return func(ctx context.Context, connectionID string) (map[string]string, error) {
		kept, err := readLimits(ctx, st, connectionID)
		if err != nil {
			return nil, err
		}
		out := map[string]string{}
		if kept.CeilingPerMinute > 0 {
			interval := max(60_000/kept.CeilingPerMinute, kept.OwnIntervalMS)
			out[variableInterval] = strconv.FormatFloat(interval, 'f', -1, 64)
		}
		if kept.MaxSeconds > 0 {
			out[variableTime] = strconv.FormatInt(kept.MaxSeconds*1000, 10)
		}
		if kept.MaxWholeSeconds > 0 {
			out[variableWhole] = strconv.FormatInt(kept.MaxWholeSeconds*1000, 10)
		}
		if kept.MaxDetails > 0 {
			out[variableDetails] = strconv.FormatInt(kept.MaxDetails, 10)
		}
		return out, nil
	}
}

// connectionLimits returns the limits of a connection, and which of them its connector supports.
func (s *Service) connectionLimits(ctx context.Context, conn store.Connection) (api.Limits, error) {
	kept, err := readLimits(ctx, s.Store, conn.ID)
	if err != nil {
		return api.Limits{}, faults.OwnerError(err, "read the limits")
	}
	m, err := s.find.StoredManifest(ctx, conn.ConnectorID)
	if err != nil {
		return api.Limits{}, err
	}
	return api.Limits{
		CeilingPerMinute: kept.CeilingPerMinute, MaxSeconds: kept.MaxSeconds, MaxWholeSeconds: kept.MaxWholeSeconds,
		MaxDetails: kept.MaxDetails, Supports: supportedLimits(m),
	}, nil
}

// supportedLimits names the limits that a connector understands: a pace where it asks a
// provider from here, and the bounds of its detail lane that it declares.
func supportedLimits(m *manifest.Manifest) []string {
	out := []string{}
	if m == nil || declaration.CollectsOnDevice(m) {
		return out
	}
	declared := m.EnvNames()
	declares := func(name string) bool { return slices.Contains(declared, m.EnvPrefix()+name) }
	if slices.Contains(m.RequiredBindings(), manifest.BindingNetwork) || declares(variableInterval) {
		out = append(out, limitCeiling)
	}
	if declares(variableTime) {
		out = append(out, limitSeconds)
	}
	if declares(variableWhole) {
		out = append(out, limitWhole)
	}
	if declares(variableDetails) {
		out = append(out, limitDetails)
	}
	return out
}

// SetLimits is the owner's word on how fast and how long a run may collect. It counts
// from the next run on.
func (s *Service) SetLimits(ctx context.Context, id string, l api.Limits) error {
	conn, err := s.find.ActiveConnection(ctx, id)
	if err != nil {
		return err
	}
	m, err := s.find.DeclaredManifest(ctx, conn.ConnectorID)
	if err != nil {
		return err
	}
	if err := checkLimits(l, supportedLimits(m)); err != nil {
		return err
	}
	before, err := readLimits(ctx, s.Store, id)
	if err != nil {
		return faults.OwnerError(err, "read the limits")
	}
	kept := keptLimits{CeilingPerMinute: l.CeilingPerMinute, MaxSeconds: l.MaxSeconds, MaxWholeSeconds: l.MaxWholeSeconds,
		MaxDetails: l.MaxDetails, OwnIntervalMS: before.OwnIntervalMS}
	if before.CeilingPerMinute == 0 {
		newest, err := pace.ReadPace(ctx, s.Store, conn, 1, s.Now())
		if err != nil {
			return faults.OwnerError(err, "read the pace")
		}
		if newest.CeilingPerMinute != nil {
			kept.OwnIntervalMS = 60_000 / *newest.CeilingPerMinute
		}
	}
	if own := kept.OwnIntervalMS; own > 0 && l.CeilingPerMinute > 60_000/own {
		most := strconv.FormatFloat(math.Floor(60_000/own*10)/10, 'f', -1, 64)
		return api.Invalid(limitCeiling, "The connector itself never makes more than "+most+" requests a minute.",
			"Choose that or less.")
	}
	body, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the limits: %w", err)
	}
	return faults.OwnerError(s.Store.PutSetting(ctx, limitsSetting(id), body, s.Now()), "keep the limits")
}

func checkLimits(l api.Limits, understood []string) error {
	for _, v := range []struct {
		name        string
		given       float64
		least, most float64
	}{
		{limitCeiling, l.CeilingPerMinute, slowestCeiling, fastestCeiling},
		{limitSeconds, float64(l.MaxSeconds), 1, longestRun},
		{limitWhole, float64(l.MaxWholeSeconds), 1, longestRun},
		{limitDetails, float64(l.MaxDetails), 1, mostDetails},
	} {
		switch {
		case v.given == 0:
		case !slices.Contains(understood, v.name):
			return api.Invalid(v.name, "The connector does not understand this limit.", "Leave it out.")
		case !(v.given >= v.least && v.given <= v.most):
			return api.Invalid(v.name, fmt.Sprintf("The limit is from %s to %s.", strconv.FormatFloat(v.least, 'f', -1, 64),
				text.Number(int64(v.most))),
				"Choose a number between these, or none.")
		}
	}
	return nil
}
