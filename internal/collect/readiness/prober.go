// Package readiness finds out before a run whether it would have what it needs: a
// credential, a browser, the programs that its connector calls or is started by, its
// variables and files. It looks at what
// connectors declare and at what is there, asks no provider anything, and records
// what it finds as probes. Whether a source accepts a credential is shown by runs.
package readiness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	// findingLifetime is how long a finding is valid. Without a server it is not renewed and expires.
	findingLifetime = 10 * time.Minute
	// renewalAge is the age at which a valid finding is checked again.
	renewalAge = findingLifetime / 2
	// otherHas is how long what another worker found counts for one that lacks it:
	// workers may have different environments, and one that has it is enough.
	otherHas = 24 * time.Hour
	// manifestsFor is how long a manifest that was read is not read again.
	manifestsFor = time.Minute
)

// Store keeps manifests and probes, and knows which workers are there.
type Store interface {
	Manifest(ctx context.Context, connectorID string) (body []byte, generation int64, err error)
	PutProbe(ctx context.Context, p store.Probe) error
}

// Prober looks at connections as a scheduler's watcher. All members must be set.
type Prober struct {
	Store Store
	// Offered reports whether some worker offers the binding.
	Offered func(ctx context.Context, binding manifest.Binding, now time.Time) (bool, error)
	// Lookup returns the owner's value of a variable that a connector declares.
	Lookup func(name string) (string, bool)
	// LookPath finds a program of this machine.
	LookPath func(program string) (string, error)
	// Connectors finds the connectors of this machine. The start of a connector that is not installed is not judged.
	Connectors catalog.Finder
	// Unconfirmed returns what a foreign connector lacks of the owner's confirmation; nil when nothing.
	Unconfirmed func(ctx context.Context, name string, d catalog.Demand) (*catalog.NeedError, error)

	manifests map[string]declaredPaths
	demands   map[string]demanded
}

// demanded is what a connector was found to demand.
type demanded struct {
	catalog.Demand
	of string // the digest of its manifest
	at time.Time
}

// declaredPaths is what a connector needs, as it was read; nil when it cannot be.
type declaredPaths struct {
	*manifest.Manifest
	at time.Time
}

// Check probes what the connections need. It writes only what is new or about to
// be forgotten, so that a connection that has everything costs nothing.
func (p *Prober) Check(ctx context.Context, page []evidence.Evidence, now time.Time) (map[string]time.Time, error) {
	again := map[string]time.Time{}
	offered := map[manifest.Binding]bool{}
	for i := range page {
		e := &page[i]
		inUse := e.Connection.Status == evidence.StatusActive || e.Connection.Status == evidence.StatusPaused
		if !inUse || e.LocalDevice() {
			continue // what a device needs is on the device
		}
		m := p.manifest(ctx, e.Connection.ConnectorID, now)
		if m == nil {
			continue // the worker that runs it reports what is wrong
		}
		for _, b := range m.RequiredBindings() {
			if _, known := offered[b]; known {
				continue
			}
			has, err := p.Offered(ctx, b, now)
			if err != nil {
				return nil, fmt.Errorf("find out whether %s is offered: %w", b, err)
			}
			offered[b] = has
		}
		provided, err := p.provided(ctx, e, now)
		if err != nil {
			return nil, err
		}
		for _, found := range append(p.findings(e, m, offered, now), provided...) {
			if err := p.record(ctx, e, found, now, again); err != nil {
				return nil, err
			}
		}
	}
	return again, nil
}

func (p *Prober) manifest(ctx context.Context, connectorID string, now time.Time) *manifest.Manifest {
	if d, ok := p.manifests[connectorID]; ok && now.Sub(d.at) < manifestsFor {
		return d.Manifest
	}
	d := declaredPaths{at: now}
	if body, _, err := p.Store.Manifest(ctx, connectorID); err == nil {
		d.Manifest, _ = manifest.Parse(body) // a run reports an invalid manifest
	}
	if p.manifests == nil {
		p.manifests = map[string]declaredPaths{}
	}
	p.manifests[connectorID] = d
	return d.Manifest
}

// findings are the looks at one connection.
func (p *Prober) findings(e *evidence.Evidence, m *manifest.Manifest, offered map[manifest.Binding]bool,
	now time.Time) []evidence.Probe {
	var out []evidence.Probe
	add := func(d evidence.Dimension, name string, has bool, present, lacking string) {
		probe := evidence.Probe{Dimension: d, Name: name, Status: evidence.ProbeOK, Reason: present, At: now}
		if !has {
			probe.Status, probe.Reason = evidence.ProbeFailed, lacking
		} else if d == evidence.ProbeCredentials {
			probe.Status = evidence.ProbeUnknown // it is there, and no source has seen it
		}
		out = append(out, probe)
	}
	for _, b := range m.RequiredBindings() {
		add(evidence.ProbeRuntime, string(b), offered[b], "", "binding_missing")
	}
	if m.RuntimeRequirements != nil {
		for _, tool := range m.RuntimeRequirements.ExternalTools {
			add(evidence.ProbeTool, tool.Name, p.installed(tool.Detect), "", "tool_missing")
		}
	}
	if needed := m.CredentialEnv(); len(needed) > 0 && e.Credential == nil {
		unset := slices.ContainsFunc(needed, func(name string) bool {
			value, _ := p.Lookup(name)
			return strings.TrimSpace(value) == ""
		})
		add(evidence.ProbeCredentials, "", !unset, "credential_present", evidence.ReasonCredentialRequired)
	}
	return out
}

// provided are the looks at what the owner provides: those that failed, and good ones at what
// was missing before.
func (p *Prober) provided(ctx context.Context, e *evidence.Evidence, now time.Time) (out []evidence.Probe, err error) {
	var lacks []*catalog.NeedError
	var unusable *catalog.UnusableError
	c, err := p.Connectors.Find(ctx, e.Connection.ConnectorID)
	switch {
	case errors.As(err, &unusable):
		lacks = []*catalog.NeedError{{Need: catalog.NeedConnector, Name: e.Connection.ConnectorID}}
	case err != nil:
		return nil, nil // the worker that runs it reports what is wrong
	default:
		lacks = c.Lacks(e.Connection.ID, p.Lookup)
		lack, err := p.unconfirmed(ctx, c, now)
		if err != nil {
			return nil, err
		}
		if lack != nil {
			lacks = append(lacks, lack)
		}
	}
	for _, lack := range lacks {
		if e.Credential != nil && lack.Need != catalog.NeedInterpreter && c.Manifest != nil &&
			slices.Contains(c.Manifest.CapturedEnv(), lack.Name) {
			continue // what is stored is not looked into
		}
		probe := evidence.Probe{Dimension: evidence.Dimension(lack.Need), Name: lack.Name, Status: evidence.ProbeFailed,
			At: now}
		probe.Reason = evidence.MissingReason(probe.Dimension)
		if lack.Need == catalog.NeedFiles && strings.HasPrefix(lack.What, evidence.IsNotSet) {
			probe.Reason = evidence.ReasonFilesUnnamed
		}
		out = append(out, probe)
	}
	missing := slices.Clone(e.Probes)
	if e.LastRun != nil && e.LastRun.MissingPrerequisite() != nil {
		missing = append(missing, *e.LastRun.MissingPrerequisite())
	}
	for _, before := range missing {
		same := func(p evidence.Probe) bool { return p.Dimension == before.Dimension && p.Name == before.Name }
		if evidence.MissingReason(before.Dimension) != "" && !slices.ContainsFunc(out, same) {
			out = append(out, evidence.Probe{Dimension: before.Dimension, Name: before.Name, Status: evidence.ProbeOK, At: now})
		}
	}
	return out, nil
}

// unconfirmed returns what a foreign connector lacks of the owner's confirmation; nil when nothing. Its
// files are read again after a while, or when its manifest has changed.
func (p *Prober) unconfirmed(ctx context.Context, c catalog.Connector, now time.Time) (*catalog.NeedError, error) {
	if c.Builtin || p.Unconfirmed == nil {
		return nil, nil
	}
	d, ok := p.demands[c.Name]
	if !ok || d.of != c.ManifestDigest || now.Sub(d.at) >= manifestsFor {
		found, err := c.Demand()
		if err != nil {
			return nil, nil // a run reports it
		}
		if p.demands == nil {
			p.demands = map[string]demanded{}
		}
		d = demanded{found, c.ManifestDigest, now}
		p.demands[c.Name] = d
	}
	lack, err := p.Unconfirmed(ctx, c.Name, d.Demand)
	if err != nil {
		return nil, fmt.Errorf("find out whether connector %s is confirmed: %w", c.Name, err)
	}
	return lack, nil
}

// installed finds the program without starting it: what a connector declares is
// not run in the passes of a server.
func (p *Prober) installed(d manifest.ToolDetect) bool {
	program := d.Executable
	if d.ExecutableEnvOverride != "" {
		if other, _ := p.Lookup(d.ExecutableEnvOverride); other != "" {
			program = other
		}
	}
	_, err := p.LookPath(program)
	return err == nil
}

// record stores a new finding, and renews an unchanged one.
func (p *Prober) record(ctx context.Context, e *evidence.Evidence, found evidence.Probe, now time.Time,
	again map[string]time.Time) error {
	var known *evidence.Probe
	for i := range e.Probes {
		if k := &e.Probes[i]; k.Dimension == found.Dimension && k.Name == found.Name {
			known = k
		}
	}
	stands := found.Status == evidence.ProbeFailed || e.LastRun != nil && e.LastRun.FailedWithout(&found)
	if stands && known != nil && known.Status == found.Status && known.ExpiresAt != nil &&
		known.ExpiresAt.Sub(now) > renewalAge {
		soonest(again, e.Connection.ID, known.ExpiresAt.Add(-renewalAge))
		return nil
	}
	if !changedFinding(known, &found, stands, now) {
		return nil
	}
	until := now.Add(findingLifetime)
	found.ExpiresAt = &until
	if stands {
		soonest(again, e.Connection.ID, until.Add(-renewalAge))
	}
	if err := p.Store.PutProbe(ctx, store.Probe{ConnectionID: e.Connection.ID, Probe: found}); err != nil {
		return fmt.Errorf("record what a run needs: %w", err)
	}
	return nil
}

// changedFinding reports whether a finding is worth a write. That something is there is so
// only where it was missing; that it is missing is so unless another worker, which
// has an environment and programs of its own, found it lately.
func changedFinding(known, found *evidence.Probe, stands bool, now time.Time) bool {
	switch {
	case known == nil:
		return stands
	case known.Status == found.Status:
		return stands // and is about to be forgotten
	case found.Status == evidence.ProbeFailed && !slices.Contains(sameEverywhere, found.Dimension):
		return now.Sub(known.At) >= otherHas
	default:
		return true
	}
}

// sameEverywhere are the dimensions that do not depend on the environment of one worker.
var sameEverywhere = []evidence.Dimension{evidence.ProbeRuntime, evidence.ProbeConfirmation, evidence.ProbeConnector}

func soonest(again map[string]time.Time, id string, at time.Time) {
	if known, ok := again[id]; !ok || at.Before(known) {
		again[id] = at
	}
}
